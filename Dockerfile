# The image that "make release" builds without a container runtime, for those who have one: a static program that holds the
# public certificate authorities, and nothing else.
#
#     docker buildx build --platform linux/amd64,linux/arm64 .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETARCH
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 GOOS=linux GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w" -o /out/manager ./cmd/garm-operator && \
    install -d -m 1777 /out/tmp

FROM scratch
COPY --from=build /out/ /
USER 65532:65532
ENTRYPOINT ["/manager"]
