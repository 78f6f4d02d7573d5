{{- /* A component's own values, merged over the values of all components. */}}

{{- /*
  Two maps, the second merged over the first: maps are merged, lists called extra… are joined, null removes a value, and
  anything else is replaced.
*/}}
{{- define "foldline.over" -}}
{{- $merged := deepCopy (first .) }}
{{- range $key, $value := last . }}
  {{- $under := get $merged $key }}
  {{- if kindIs "invalid" $value }}
    {{- $_ := unset $merged $key }}
  {{- else if and (kindIs "map" $value) (kindIs "map" $under) }}
    {{- $_ := set $merged $key (include "foldline.over" (list $under $value) | fromYaml) }}
  {{- else if and (hasPrefix "extra" $key) (kindIs "slice" $under) }}
    {{- $_ := set $merged $key (concat $under $value) }}
  {{- else }}
    {{- $_ := set $merged $key $value }}
  {{- end }}
{{- end }}
{{- toYaml $merged }}
{{- end }}

{{- /* The values of a component: its own layers, merged over the pods' values and settings. Takes root, layers. */}}
{{- define "foldline.own" -}}
{{- $own := merge (dict "settings" .root.Values.settings) (deepCopy .root.Values.pods) }}
{{- range .layers }}
  {{- $own = include "foldline.over" (list $own .) | fromYaml }}
{{- end }}
{{- toYaml $own }}
{{- end }}

{{- /* The values of a worker. Takes root, worker. */}}
{{- define "foldline.worker" -}}
{{- include "foldline.own" (dict "root" .root "layers" (list .root.Values.workerDefaults .worker)) }}
{{- end }}
