import type { ModelOperations } from "../../core/models.ts";
import { ListModelsReply, UseModelBody } from "../../schemas/models.ts";
import { toWire } from "../../schemas/wire.ts";
import { routes } from "../route.ts";

export const modelRoutes = routes<{ readonly models: ModelOperations }>((route, { models }) => {
  route(
    {
      id: "listModels",
      at: "GET /models",
      scope: "admin",
      summary: "The embedding models that ship, and how far a change of the store's is",
    },
    { answer: ListModelsReply },
    async () => toWire(ListModelsReply, await models.list()),
  );

  route(
    {
      id: "useModel",
      at: "POST /models/use",
      scope: "admin",
      summary: "Embed all memories again with another model",
      description:
        "New memories and questions use it at once; the others follow in the background and over restarts, and are found by " +
        "their own model until then. `GET /models` says how far it is. Naming the model before changes back.",
    },
    { body: UseModelBody, accepted: ListModelsReply },
    async ({ body }, reply) => reply.code(202).send(toWire(ListModelsReply, await models.use(body.name))),
  );
});
