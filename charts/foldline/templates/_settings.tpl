{{- /* The program's settings, as variables of a container. */}}

{{- /* Which variable comes from a Secret, who needs it, and which bundled service has it made up for a trial. */}}
{{- define "foldline.secrets" -}}
database: {variable: FOLDLINE_DATABASE_URL, roles: [api, worker, migrate], trial: [postgresql]}
broker: {variable: FOLDLINE_BROKER_URL, roles: [api, worker, beat, flower], trial: [valkey]}
apiKeys: {variable: FOLDLINE_API_KEYS, roles: [api, test], trial: [postgresql, valkey]}
summarizer: {variable: FOLDLINE_SUMMARIZER_API_KEY, roles: [worker], trial: []}
flower: {variable: FOLDLINE_FLOWER_LOGIN, roles: [flower], trial: [postgresql, valkey]}
{{- end }}

{{- /* The names of the secrets that the chart makes up, as a list. */}}
{{- define "foldline.madeUp" -}}
{{- $names := list }}
{{- range $name, $secret := include "foldline.secrets" . | fromYaml }}
  {{- range $service := $secret.trial }}
    {{- if and (get $.Values $service).enabled (not (get $.Values.secrets $name).existingSecret) }}
      {{- $names = append $names $name }}
    {{- end }}
  {{- end }}
{{- end }}
{{- uniq $names | toJson }}
{{- end }}

{{- /* The Secret that has a secret setting; empty if there is none. Takes root, name. */}}
{{- define "foldline.secretName" -}}
{{- $madeUp := include "foldline.madeUp" .root | fromJsonArray }}
{{- $made := has .name $madeUp | ternary (printf "%s-trial" (include "foldline.fullname" .root)) "" }}
{{- default $made (get .root.Values.secrets .name).existingSecret }}
{{- end }}

{{- /* Settings that the chart needs to know elsewhere too, by the value that has them. */}}
{{- define "foldline.decided" -}}
host: listen
port: ports.http
metrics_host: listen
metrics_port: ports.metrics
flower_host: listen
flower_port: ports.flower
task_events: flower.enabled
{{- end }}

{{- /* Settings that have a value of their own, and which; anything else is below `settings`. */}}
{{- define "foldline.places" -}}
{{- $places := include "foldline.decided" . | fromYaml }}
{{- range $name, $secret := include "foldline.secrets" . | fromYaml }}
  {{- $_ := set $places ($secret.variable | trimPrefix "FOLDLINE_" | lower) (printf "secrets.%s.existingSecret" $name) }}
{{- end }}
{{- toYaml $places }}
{{- end }}

{{- /* The variables of a container. Takes root, role, own. */}}
{{- define "foldline.env" -}}
{{- $settings := deepCopy .own.settings }}
{{- range $name, $path := include "foldline.decided" .root | fromYaml }}
  {{- $value := $.root.Values }}
  {{- range splitList "." $path }}{{ $value = get $value . }}{{ end }}
  {{- $_ := set $settings $name $value }}
{{- end }}
{{- range $name, $value := $settings }}
{{- if not (kindIs "invalid" $value) }}
- name: FOLDLINE_{{ upper $name }}
  {{- /* As JSON, because a large number would otherwise be written as 3.3554432e+07. */}}
  value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
{{- end }}
{{- end }}
{{- range $name, $secret := include "foldline.secrets" .root | fromYaml }}
{{- $secretName := include "foldline.secretName" (dict "root" $.root "name" $name) }}
{{- if and (has $.role $secret.roles) $secretName }}
- name: {{ $secret.variable }}
  valueFrom:
    secretKeyRef:
      name: {{ $secretName }}
      key: {{ (get $.root.Values.secrets $name).key }}
{{- end }}
{{- end }}
{{- with .own.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
