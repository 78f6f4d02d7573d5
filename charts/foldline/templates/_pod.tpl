{{- /* The pod that every process of Foldline runs in. */}}

{{- /*
  A pod's metadata and spec. Takes root, component, role (which secrets it needs), own (its values), and of its one
  container command or args; ports, by name; probes, the name of the port that they request; preStopSeconds;
  restartPolicy.
*/}}
{{- define "foldline.pod" -}}
{{- $own := .own -}}
metadata:
  labels:
    {{- include "foldline.selector" . | nindent 4 }}
    {{- if has "metrics" .ports }}
    foldline/operator-port: open
    {{- end }}
    {{- with merge (dict) $own.labels .root.Values.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $own.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  # For a Service called foldline, Kubernetes would set the variable FOLDLINE_PORT, which is a setting.
  enableServiceLinks: false
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  terminationGracePeriodSeconds: {{ add (ceil $own.settings.stop_seconds) (.preStopSeconds | default 0) $own.slackSeconds }}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- range $field := list "serviceAccountName" "priorityClassName" "nodeSelector" "tolerations" "affinity" "securityContext" }}
  {{- with get $own $field }}
  {{- dict $field . | toYaml | nindent 2 }}
  {{- end }}
  {{- end }}
  {{- /* A pod that ends by itself has no others to spread from. */}}
  {{- with empty .restartPolicy | ternary $own.topologySpread list }}
  topologySpreadConstraints:
    {{- range . }}
    - labelSelector:
        matchLabels:
          {{- include "foldline.selector" $ | nindent 10 }}
      {{- /* Only pods of the same rollout count. */}}
      matchLabelKeys: [pod-template-hash]
      {{- merge (dict) . (dict "maxSkew" 1 "whenUnsatisfiable" "ScheduleAnyway") | toYaml | nindent 6 }}
    {{- end }}
  {{- end }}
  containers:
    - {{ include "foldline.container" . | indent 6 | trim }}
  volumes:
    - name: temporary
      emptyDir:
        sizeLimit: {{ $own.temporarySize }}
    {{- with .root.Values.certificates.existingSecret }}
    - name: certificates
      secret:
        secretName: {{ . }}
        # PostgreSQL's client refuses a key file that others can read.
        defaultMode: 0440
    {{- end }}
    {{- with $own.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{- define "foldline.container" -}}
{{- $own := .own -}}
name: {{ .role }}
image: {{ include "foldline.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- range $field := list "command" "args" }}
{{- with get $ $field }}
{{- dict $field . | toYaml | nindent 0 }}
{{- end }}
{{- end }}
env:
  {{- include "foldline.env" . | trim | nindent 2 }}
{{- with $own.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .ports }}
ports:
  {{- range . }}
  - name: {{ . }}
    containerPort: {{ get $.root.Values.ports . }}
  {{- end }}
{{- end }}
{{- with .probes }}
startupProbe:
  {{- include "foldline.probe" (dict "path" "/healthz" "port" . "times" $own.probes.startup) | nindent 2 }}
livenessProbe:
  {{- include "foldline.probe" (dict "path" "/healthz" "port" . "times" $own.probes.liveness) | nindent 2 }}
readinessProbe:
  {{- include "foldline.probe" (dict "path" "/readyz" "port" . "times" $own.probes.readiness) | nindent 2 }}
{{- end }}
{{- with .preStopSeconds }}
lifecycle:
  preStop:
    sleep:
      seconds: {{ . }}
{{- end }}
resources:
  {{- toYaml $own.resources | nindent 2 }}
securityContext:
  {{- toYaml $own.containerSecurityContext | nindent 2 }}
volumeMounts:
  - name: temporary
    mountPath: /tmp
  {{- if .root.Values.certificates.existingSecret }}
  - name: certificates
    mountPath: /etc/foldline/certificates
    readOnly: true
  {{- end }}
  {{- with $own.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "foldline.probe" -}}
httpGet:
  path: {{ .path }}
  port: {{ .port }}
{{ toYaml .times }}
{{- end }}

{{- define "foldline.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ empty .digest | ternary (printf ":%s" (default $.Chart.AppVersion .tag)) (printf "@%s" .digest) }}
{{- end }}
{{- end }}

{{- /* A Deployment. Takes what a pod takes, replicas unless something else scales it, and strategy. */}}
{{- define "foldline.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "foldline.metadata" . | nindent 2 }}
spec:
  {{- if hasKey . "replicas" }}
  replicas: {{ .replicas }}
  {{- end }}
  strategy:
    {{- toYaml (.strategy | default (dict "type" "RollingUpdate" "rollingUpdate" (dict "maxSurge" 1 "maxUnavailable" 0))) | nindent 4 }}
  selector:
    matchLabels:
      {{- include "foldline.selector" . | nindent 6 }}
  template:
    {{- include "foldline.pod" . | nindent 4 }}
{{- end }}
