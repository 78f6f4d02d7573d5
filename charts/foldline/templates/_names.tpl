{{- /* Names and labels. A component's name is the last part of its objects' names and the value of its label. */}}

{{- define "foldline.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* The first part of every name, short enough to append the component's. */}}
{{- define "foldline.fullname" -}}
{{- $name := include "foldline.name" . }}
{{- $joined := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- default $joined .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* The selector labels of a component's pods, or of all pods of Foldline. Takes root, component. */}}
{{- define "foldline.selector" -}}
app.kubernetes.io/name: {{ include "foldline.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- /* The metadata of an object without annotations. Takes root, component, labels, and suffix if it is not the component. */}}
{{- define "foldline.metadata" -}}
name: {{ include "foldline.fullname" .root }}{{ with .suffix | default .component }}-{{ . }}{{ end }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "foldline.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_") }}
  {{- with merge (dict) (.labels | default dict) .root.Values.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- /* The label `job` of this installation's metrics. */}}
{{- define "foldline.job" -}}
{{ .Release.Namespace }}/{{ include "foldline.fullname" . }}
{{- end }}
