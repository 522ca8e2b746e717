/** Vectors grouped by direction. */
export interface Cluster {
  /** Places in the list of vectors, ascending. */
  readonly members: readonly number[];
  /** Of unit length. */
  readonly centre: Float32Array;
}

const ROUNDS = 4;

/**
 * Groups vectors by spherical k-means, largest group first. The start is fixed (the one nearest to the middle of all,
 * then each time the one least like those chosen), so the same vectors in the same order give the same groups. Cost:
 * linear in vectors × clusters, with a rest after each round.
 *
 * @param vectors of unit length.
 * @see Dhillon & Modha, "Concept decompositions for large sparse text data using clustering", 2001.
 */
export async function cluster(
  vectors: readonly Float32Array[],
  count: number,
  rest: () => Promise<void>,
): Promise<Cluster[]> {
  if (vectors.length === 0) return [];
  let centres = firstCentres(vectors, Math.min(count, vectors.length));
  let members: number[][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await rest();
    members = centres.map(() => []);
    vectors.forEach((vector, place) => members[nearest(vector, centres)]?.push(place));
    members = members.filter((group) => group.length > 0);
    centres = members.map((group) => middle(group.map((place) => vectors[place] ?? new Float32Array())));
  }
  return members
    .map((group, i) => ({ members: group, centre: centres[i] ?? new Float32Array() }))
    .sort((a, b) => b.members.length - a.members.length || (a.members[0] ?? 0) - (b.members[0] ?? 0));
}

/** Cosine of vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** The mean of vectors, brought to unit length. */
export function middle(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors)
    for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
  const length = Math.hypot(...sum) || 1;
  return sum.map((component) => component / length);
}

function firstCentres(vectors: readonly Float32Array[], count: number): Float32Array[] {
  const all = middle(vectors);
  const centres: Float32Array[] = [];
  /** By vector: cosine with the nearest centre so far. */
  const covered = new Float32Array(vectors.length).fill(-1);
  let next = 0;
  vectors.forEach((vector, place) => {
    if (cosine(vector, all) > cosine(vectors[next] ?? all, all)) next = place;
  });
  while (centres.length < count) {
    const centre = vectors[next] ?? all;
    centres.push(centre);
    vectors.forEach((vector, place) => {
      covered[place] = Math.max(covered[place] ?? -1, cosine(vector, centre));
    });
    next = covered.indexOf(covered.reduce((least, value) => Math.min(least, value), Infinity));
  }
  return centres;
}

function nearest(vector: Float32Array, centres: readonly Float32Array[]): number {
  let best = 0;
  let highest = -Infinity;
  centres.forEach((centre, i) => {
    const value = cosine(vector, centre);
    if (value > highest) [best, highest] = [i, value];
  });
  return best;
}
