/** What is used of JSON Schema and OpenAPI. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}
export interface Route {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly "x-scope": string;
  readonly parameters?: readonly {
    in: string;
    name: string;
    description?: string;
    required?: boolean;
    schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses: Readonly<
    Record<string, { content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Route>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The name of a schema in the address that refers to it. */
export const nameOf = (reference: string): string => reference.split("/").at(-1) ?? "";
