export interface WavForm {
  readonly rate?: number;
  readonly bits?: number;
  readonly isFloat?: boolean;
  readonly isExtensible?: boolean;
  readonly title?: string;
  /** Of the sound, by the file's account; what it is if absent. */
  readonly dataBytes?: number;
}

/** A WAV file of channels with samples from −1 to 1. */
export function wavFile(
  channels: readonly Float32Array[],
  { rate = 16_000, bits = 16, isFloat = false, isExtensible = false, title, dataBytes }: WavForm = {},
): Uint8Array {
  const bytesPerSample = Math.ceil(bits / 8);
  const length = channels[0]?.length ?? 0;
  const data = Buffer.alloc(length * channels.length * bytesPerSample);
  let at = 0;
  for (let i = 0; i < length; i += 1) {
    for (const channel of channels) {
      writeSample(data, at, channel[i] ?? 0, bits, isFloat);
      at += bytesPerSample;
    }
  }
  const tag = isFloat ? 3 : 1;
  const format = Buffer.alloc(isExtensible ? 40 : 16);
  format.writeUInt16LE(isExtensible ? 0xfffe : tag, 0);
  format.writeUInt16LE(channels.length, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt16LE(channels.length * (bits / 8), 12);
  format.writeUInt16LE(bits, 14);
  if (isExtensible) format.writeUInt16LE(tag, 24);
  const info =
    title === undefined
      ? []
      : [chunk("LIST", Buffer.concat([Buffer.from("INFO"), chunk("INAM", Buffer.from(title))]))];
  const body = Buffer.concat([
    Buffer.from("WAVE"),
    ...info,
    chunk("fmt ", format),
    chunk("data", data, dataBytes),
  ]);
  return chunk("RIFF", body);
}

function writeSample(data: Buffer, at: number, sample: number, bits: number, isFloat: boolean): void {
  const whole = Math.round(sample * (2 ** (bits - 1) - 1));
  if (bits === 64) data.writeDoubleLE(sample, at);
  else if (isFloat) data.writeFloatLE(sample, at);
  else if (bits === 8) data.writeUInt8(whole + 128, at);
  else data.writeIntLE(whole, at, Math.ceil(bits / 8));
}

function chunk(name: string, content: Buffer, size = content.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}
