# A trainer with CUDA. From the repository's root, on a machine with NVIDIA's container toolkit:
#
#   docker build -f deploy/trainer.Dockerfile -t nextstate-trainer .
#   docker run -d --restart on-failure --gpus all -v nextstate-trainer:/nextstate/state \
#     -e NEXTSTATE_TRAINER_KEY nextstate-trainer --url https://<name>.<account>.workers.dev
#
# A wrong key ends it with 2, after which Docker, other than the service, starts it again. It fetches the base that the edge serves, once, as the volume keeps it; the image has the shipped one, for the judge's files beside it. Without --gpus it trains on the CPU. Its libraries are those that onnxruntime-node 1.30 asks for: CUDA 12, cuDNN 9.
FROM node:24-bookworm-slim AS node

FROM nvidia/cuda:12.8.1-cudnn-runtime-ubuntu24.04
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 10001 trainer
WORKDIR /nextstate
COPY package.json package-lock.json .npmrc ./
# Then the CUDA provider, which is too large for npm: onnxruntime's own script fetches it from NuGet.
RUN ONNXRUNTIME_NODE_INSTALL=skip npm install --no-save --no-audit --no-fund \
 && node node_modules/onnxruntime-node/script/install.js --onnxruntime-node-install=cuda12
COPY cli/bootstrap.mjs cli/bootstrap.mjs
COPY base base
COPY shared shared
COPY trainer trainer
RUN mkdir state && chown trainer state
USER trainer
VOLUME /nextstate/state
ENTRYPOINT ["node", "cli/bootstrap.mjs", "trainer/main.ts", "--state", "state"]
