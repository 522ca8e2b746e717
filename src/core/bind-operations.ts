/** Operations that take their ports first, as functions of their input alone. */
export type Bound<All> = {
  readonly [Name in keyof All]: All[Name] extends (ports: never, input: infer Input) => infer Answer
    ? (input: Input) => Answer
    : never;
};

/** The operations over the given ports. */
export function bindAll<Ports, All extends Readonly<Record<string, (ports: Ports, input: never) => unknown>>>(
  operations: All,
  ports: Ports,
): Bound<All> {
  const bound = Object.entries(operations).map(([name, operate]) => [
    name,
    (input: never) => operate(ports, input),
  ]);
  return Object.fromEntries(bound) as Bound<All>;
}
