/**
 * Variables that the process must have before ONNX Runtime is loaded. Without them, on Linux and macOS, it draws an id of
 * the machine, keeps it with events about models and runs in the user's cache folder, and sends them to Microsoft
 * (microsoft/onnxruntime#27379).
 */
export const ONNX_ENVIRONMENT = { ORT_DISABLE_TELEMETRY: "1" } as const;
