{{- /* The settings, as environment variables of a container. */}}

{{- /* The variables that come from a Secret, the roles that need them, and the bundled services for which they are generated. */}}
{{- define "foldline.secrets" -}}
database: {variable: FOLDLINE_DATABASE_URL, roles: [api, worker, migrate], trial: [postgresql]}
broker: {variable: FOLDLINE_BROKER_URL, roles: [api, worker, beat, flower], trial: [valkey]}
apiKeys: {variable: FOLDLINE_API_KEYS, roles: [api, test], trial: [postgresql, valkey]}
encryptionKeys: {variable: FOLDLINE_ENCRYPTION_KEYS, roles: [api, worker], trial: [], isOptional: true}
summarizer: {variable: FOLDLINE_SUMMARIZER_API_KEY, roles: [worker], trial: [], isOptional: true}
anthropic: {variable: FOLDLINE_ANTHROPIC_API_KEY, roles: [worker], trial: [], isOptional: true}
openai: {variable: FOLDLINE_OPENAI_API_KEY, roles: [worker], trial: [], isOptional: true}
flower: {variable: FOLDLINE_FLOWER_LOGIN, roles: [flower], trial: [postgresql, valkey]}
{{- end }}

{{- /* The names of the secrets that the chart generates, as a list. */}}
{{- define "foldline.generated" -}}
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

{{- /* The name of the Secret that has a secret setting; empty if there is none. Takes root, name. */}}
{{- define "foldline.secretName" -}}
{{- $generated := include "foldline.generated" .root | fromJsonArray }}
{{- $made := has .name $generated | ternary (printf "%s-trial" (include "foldline.fullname" .root)) "" }}
{{- default $made (get .root.Values.secrets .name).existingSecret }}
{{- end }}

{{- /* Settings that the chart also needs elsewhere, and the value that decides each. */}}
{{- define "foldline.decided" -}}
host: listen
port: ports.http
metrics_host: listen
metrics_port: ports.metrics
flower_host: listen
flower_port: ports.flower
task_events: flower.enabled
{{- end }}

{{- /* Settings with a value of their own, and the name of that value. All others are below `settings`. */}}
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
  {{- /* As JSON, because Helm would write a large number as 3.3554432e+07. */}}
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
