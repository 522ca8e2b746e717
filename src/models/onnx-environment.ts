/**
 * What ONNX Runtime must find among the variables of its process before it is loaded. Without it, on Linux and macOS, it
 * makes up an id of the machine, keeps that and events about models and runs in the user's cache folder, and sends them to
 * Microsoft (microsoft/onnxruntime#27379).
 */
export const ONNX_ENVIRONMENT = { ORT_DISABLE_TELEMETRY: "1" } as const;
