# An image with the `wiesel` command, made of the wheel: `make wheel && docker build -t wiesel .`
#   docker run --rm wiesel examples run word_count
#   docker run --rm -v "$PWD":/job wiesel run job.py
FROM python:3.11-slim-bookworm

# tini is process 1: it forwards signals and collects orphans, which neither Python nor a JVM does there.
RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless tini \
    && rm -rf /var/lib/apt/lists/*

# Further extras: docker build --build-arg EXTRAS=[s3,avro] (docs/installation.md lists them).
ARG EXTRAS=
COPY dist/*.whl /tmp/dist/
RUN pip install --no-cache-dir "$(ls /tmp/dist/*.whl)$EXTRAS" \
    && rm -r /tmp/dist \
    && useradd --create-home wiesel \
    && mkdir /job \
    && chown wiesel /job

# The archive of Java classes is in the image, so that each container starts from it.
RUN wiesel warm-up

USER wiesel
WORKDIR /job
ENTRYPOINT ["tini", "--", "wiesel"]
CMD ["--help"]
