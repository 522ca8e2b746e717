/** It has no types. */
const WORKER: string = "pdfjs-dist/legacy/build/pdf.worker.mjs";

/**
 * pdf.js without a canvas and without a worker of its own.
 *
 * It asks for these classes when it is imported, though reading text never uses them; without them it looks for a native
 * canvas. Its worker's code, put where it looks first, runs in this thread.
 */
export async function loadPdfjs() {
  const scope = globalThis as Record<string, unknown>;
  for (const name of ["DOMMatrix", "Path2D", "ImageData"]) scope[name] ??= function unused() {};
  scope["pdfjsWorker"] ??= await import(WORKER);
  return import("pdfjs-dist/legacy/build/pdf.mjs");
}
