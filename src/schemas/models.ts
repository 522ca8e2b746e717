import { Type } from "typebox";
import { nullable } from "./fields.ts";

const Count = Type.Integer({ minimum: 0 });

export const UseModelBody = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 256, examples: ["multilingual-e5-small"] }) },
  { $id: "UseModel" },
);

export const ListModelsReply = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        name: Type.String(),
        dimensions: Count,
        bytes: Type.Integer({ minimum: 0, description: "Of its files." }),
        languages: Type.String(),
        licence: Type.String(),
        active: Type.Boolean({ description: "Whether new memories and questions are embedded with it." }),
      }),
    ),
    migration: nullable(
      Type.Object({
        from: Type.String(),
        to: Type.String(),
        done: Type.Integer({ minimum: 0, description: "Memories that have vectors of the new model." }),
        total: Count,
        status: Type.Enum(["running", "waiting"], {
          type: "string",
          description: "`waiting`: it failed, and is tried again shortly.",
        }),
      }),
    ),
  },
  { $id: "Models" },
);
