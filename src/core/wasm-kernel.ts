export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The part of the platform's WebAssembly used here; neither the language's nor Node's types declare it. */
declare const WebAssembly: {
  readonly Memory: new (limits: { readonly initial: number; readonly maximum: number }) => KernelMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (
    module: object,
    imports: { readonly env: { readonly memory: KernelMemory } },
  ) => { readonly exports: Readonly<Record<string, unknown>> };
};

export const PAGE_BYTES = 65_536;
/** WebAssembly's own limit for 32-bit memories: 4 GiB. */
const MAX_PAGES = 65_536;

const compiled = new Map<string, object>();

/** An instance of compiled code, in base64, over a memory of its own of at least so many bytes. */
export function openKernel(code: string, bytes: number) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES), maximum: MAX_PAGES });
  const module = compiled.get(code) ?? new WebAssembly.Module(kernelBytes(code));
  compiled.set(code, module);
  return { memory, exports: new WebAssembly.Instance(module, { env: { memory } }).exports };
}

/** Makes a memory at least so long, and an eighth longer, so that adding one by one makes it grow seldom. */
export function reserve(memory: KernelMemory, bytes: number): void {
  const { byteLength } = memory.buffer;
  if (bytes > byteLength) memory.grow(Math.ceil((bytes - byteLength + (byteLength >> 3)) / PAGE_BYTES));
}

/** The bytes of compiled code; tests compare them with the source. */
export function kernelBytes(code: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(code), (character) => character.charCodeAt(0));
}
