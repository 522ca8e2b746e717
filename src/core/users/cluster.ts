import { cosine } from "../embedding.ts";

/** Vectors grouped by direction. */
export interface Cluster {
  /** Places in the list of vectors, ascending. */
  readonly members: readonly number[];
  /** Of unit length. */
  readonly centre: Float32Array;
}

const ROUNDS = 4;
/** Centres are found from at most this many vectors, evenly chosen. */
const MAX_CENTRED = 800;
const VECTORS_PER_STEP = 400;

/**
 * Groups vectors by spherical k-means, largest group first. The start is fixed (the vector nearest to the mean of all,
 * then each time the one least like those chosen), so the same vectors in the same order give the same groups. Cost:
 * linear in vectors × clusters.
 *
 * @param vectors of unit length.
 * @param rest lets other requests in; called every few milliseconds.
 * @see Dhillon & Modha, "Concept decompositions for large sparse text data using clustering", 2001.
 */
export async function cluster(
  vectors: readonly Float32Array[],
  count: number,
  rest: () => Promise<void>,
): Promise<Cluster[]> {
  if (vectors.length === 0) return [];
  const centred = evenly(vectors, MAX_CENTRED);
  let centres = firstCentres(centred, Math.min(count, centred.length));
  for (let round = 0; round < ROUNDS; round += 1) {
    await rest();
    const groups: Float32Array[][] = centres.map(() => []);
    for (const vector of centred) groups[nearest(vector, centres)]?.push(vector);
    centres = groups.filter((group) => group.length > 0).map(middle);
  }
  const members: number[][] = centres.map(() => []);
  for (const [place, vector] of vectors.entries()) {
    if (place % VECTORS_PER_STEP === 0) await rest();
    members[nearest(vector, centres)]?.push(place);
  }
  return members
    .map((group, i) => ({ members: group, centre: centres[i] ?? new Float32Array() }))
    .filter((group) => group.members.length > 0)
    .sort((a, b) => b.members.length - a.members.length || (a.members[0] ?? 0) - (b.members[0] ?? 0));
}

/** At most `limit` items, evenly chosen, in their order. */
export function evenly<T>(items: readonly T[], limit: number): readonly T[] {
  if (items.length <= limit) return items;
  return Array.from({ length: limit }, (_, i) => items[Math.floor((i * items.length) / limit)] as T);
}

/** The mean of vectors, brought to unit length. */
export function middle(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors)
    for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
  const length = Math.sqrt(cosine(sum, sum)) || 1;
  for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) / length;
  return sum;
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
