{{- /* The bundled PostgreSQL and Valkey for a trial: one pod each. */}}

{{- /* The selector labels of a bundled service's pod. Takes root, service. */}}
{{- define "foldline.trialSelector" -}}
app.kubernetes.io/name: {{ include "foldline.name" .root }}-{{ .service }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .service }}
{{- end }}

{{- /*
  A bundled service: Service and StatefulSet. Takes root, service (its name among the values), port, user (the image's),
  args, env, mounts (folders in memory, beside the volume), path (of the volume), and ready (a command that succeeds once it
  answers).
*/}}
{{- define "foldline.trial" -}}
{{- $values := get .root.Values .service -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "foldline.trialMetadata" . | nindent 2 }}
spec:
  selector:
    {{- include "foldline.trialSelector" . | nindent 4 }}
  ports:
    - name: {{ .service }}
      port: {{ .port }}
      targetPort: {{ .service }}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  {{- include "foldline.trialMetadata" . | nindent 2 }}
spec:
  replicas: 1
  serviceName: {{ include "foldline.fullname" .root }}-{{ .service }}
  selector:
    matchLabels:
      {{- include "foldline.trialSelector" . | nindent 6 }}
  # The password is deleted with the release, so the data that needs it is deleted too.
  persistentVolumeClaimRetentionPolicy:
    whenDeleted: Delete
    whenScaled: Retain
  template:
    metadata:
      labels:
        {{- include "foldline.trialSelector" . | nindent 8 }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        runAsUser: {{ .user }}
        runAsGroup: {{ .user }}
        fsGroup: {{ .user }}
        fsGroupChangePolicy: OnRootMismatch
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: {{ .service }}
          image: {{ $values.image }}
          {{- with .args }}
          args:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          env:
            {{- toYaml .env | nindent 12 }}
          ports:
            - name: {{ .service }}
              containerPort: {{ .port }}
          {{- range $probe, $failures := dict "startupProbe" 60 "livenessProbe" 6 "readinessProbe" 2 }}
          {{ $probe }}:
            exec:
              command: {{ toJson $.ready }}
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: {{ $failures }}
          {{- end }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
          volumeMounts:
            - name: data
              mountPath: {{ .path }}
            {{- range $name, $path := .mounts }}
            - name: {{ $name }}
              mountPath: {{ $path }}
            {{- end }}
      {{- with .mounts }}
      volumes:
        {{- range $name, $_ := . }}
        - name: {{ $name }}
          emptyDir: {}
        {{- end }}
      {{- end }}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: [ReadWriteOnce]
        {{- with $values.storage.className }}
        storageClassName: {{ . }}
        {{- end }}
        resources:
          requests:
            storage: {{ $values.storage.size }}
{{- end }}

{{- define "foldline.trialMetadata" -}}
{{- $labels := include "foldline.trialSelector" . | fromYaml -}}
{{- $metadata := include "foldline.metadata" (dict "root" .root "component" .service) | fromYaml -}}
{{- merge (dict "labels" $labels) $metadata | toYaml }}
{{- end }}

{{- /* A password of the trial's Secret, as a variable of a container. Takes root, name, key. */}}
{{- define "foldline.trialVariable" -}}
name: {{ .name }}
valueFrom:
  secretKeyRef:
    name: {{ include "foldline.fullname" .root }}-trial
    key: {{ .key }}
{{- end }}
