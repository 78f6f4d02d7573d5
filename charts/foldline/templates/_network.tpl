{{- /* Services, Ingresses and disruption budgets of the API, Flower and the workers. */}}

{{- /* A Service. Takes root, component, port (the container's, by name), service. */}}
{{- define "foldline.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "foldline.metadata" . | nindent 2 }}
  {{- with .service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .service.type }}
  selector:
    {{- include "foldline.selector" . | nindent 4 }}
  ports:
    - name: {{ .port }}
      port: {{ .service.port }}
      targetPort: {{ .port }}
{{- end }}

{{- /* An Ingress. Takes root, component, port (of the Service, by name), ingress. */}}
{{- define "foldline.ingress" -}}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  {{- include "foldline.metadata" . | nindent 2 }}
  {{- with .ingress.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  rules:
    {{- range .ingress.hosts }}
    - host: {{ . | quote }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {{ include "foldline.fullname" $.root }}-{{ $.component }}
                port:
                  name: {{ $.port }}
    {{- end }}
  {{- with .ingress.tls }}
  tls:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- /* A PodDisruptionBudget. Takes root, component, budget, and unhealthy: when a pod that is not ready may be evicted. */}}
{{- define "foldline.disruption" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "foldline.metadata" . | nindent 2 }}
spec:
  maxUnavailable: {{ .budget.maxUnavailable }}
  unhealthyPodEvictionPolicy: {{ .unhealthy }}
  selector:
    matchLabels:
      {{- include "foldline.selector" . | nindent 6 }}
{{- end }}

{{- /* The ingress rule of a NetworkPolicy. Takes port, and from, which is empty for anyone. */}}
{{- define "foldline.allowed" -}}
- ports:
    - port: {{ .port }}
      protocol: TCP
  {{- with .from }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
