{{- define "garm-operator.labels" -}}
app.kubernetes.io/name: garm-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* What the values cannot say one by one. */}}
{{- define "garm-operator.check" -}}
{{- if and .Values.embeddedServer.enabled .Values.garm.server }}
{{- fail "garm.server and embeddedServer.enabled exclude each other: set garm.server to use a GARM server, or embeddedServer.enabled=true to run one in the operator" }}
{{- end }}
{{- if not (or .Values.embeddedServer.enabled .Values.garm.server) }}
{{- fail "set garm.server to the URL of a GARM server, or embeddedServer.enabled=true to run one in the operator" }}
{{- end }}
{{- if and .Values.embeddedServer.enabled (gt (int .Values.replicas) 1) }}
{{- fail "replicas has to be 1 with embeddedServer.enabled: the server's database has one user" }}
{{- end }}
{{- if and .Values.embeddedServer.enabled .Values.podDisruptionBudget.enabled }}
{{- fail "podDisruptionBudget.enabled has to be false with embeddedServer.enabled: the single replica could never be moved" }}
{{- end }}
{{- if and .Values.embeddedServer.providersConfigMap (not .Values.embeddedServer.enabled) }}
{{- fail "embeddedServer.providersConfigMap needs embeddedServer.enabled=true: the server of garm.server has providers of its own" }}
{{- end }}
{{- if and .Values.podDisruptionBudget.enabled (lt (int .Values.replicas) 2) }}
{{- fail "podDisruptionBudget.enabled needs replicas of 2 or more: a single replica could never be moved" }}
{{- end }}
{{- if and .Values.watchAllNamespaces .Values.watchNamespaces }}
{{- fail "watchNamespaces has to be empty with watchAllNamespaces: true" }}
{{- end }}
{{- end }}

{{/* The value of --operator-watch-namespace. */}}
{{- define "garm-operator.watch" -}}
{{- if not .Values.watchAllNamespaces }}{{ join "," (.Values.watchNamespaces | default (list .Release.Namespace)) }}{{ end }}
{{- end }}

{{/* A role binding to the operator's service account: kind, name, and the kind and name of the role. */}}
{{- define "garm-operator.binding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: garm-operator-{{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "garm-operator.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .roleKind }}
  name: garm-operator-{{ .role }}
subjects:
- kind: ServiceAccount
  name: garm-operator-controller-manager
  namespace: {{ .root.Release.Namespace }}
{{- end }}

{{/* A role with the rules of a generated file. */}}
{{- define "garm-operator.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: garm-operator-{{ .role.metadata.name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "garm-operator.labels" .root | nindent 4 }}
    {{- with .role.metadata.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
rules:
{{ toYaml .role.rules }}
{{- end }}
