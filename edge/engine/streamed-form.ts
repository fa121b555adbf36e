/** A multipart form with one file that passes through: what `FormData` would hold whole. RFC 7578 */

export type StreamedForm = { readonly contentType: string; readonly body: ReadableStream<Uint8Array> };

/** @param form.file with its length, so that whoever gets the form is told how long it is */
export function streamedForm({
  fields,
  file,
}: {
  fields: Readonly<Record<string, string>>;
  file: { field: string; name: string; bytes: number; body: ReadableStream<Uint8Array> };
}): StreamedForm {
  const boundary = `nextstate-${crypto.randomUUID()}`;
  const named = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const opening = `--${boundary}\r\ncontent-disposition: form-data; name="${file.field}"; filename="${file.name}"\r\ncontent-type: application/octet-stream\r\n\r\n`;
  const before = new TextEncoder().encode(`${named.join("")}${opening}`);
  const after = new TextEncoder().encode(`\r\n--${boundary}--\r\n`);
  const { readable, writable } = new FixedLengthStream(before.length + file.bytes + after.length);
  // Whoever reads the form hears of what goes wrong here: the stream breaks off.
  write(writable, [before, file.body, after]).catch((thrown: unknown) => writable.abort(thrown).catch(() => undefined));
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: readable };
}

async function write(writable: WritableStream<Uint8Array>, parts: readonly (Uint8Array | ReadableStream<Uint8Array>)[]): Promise<void> {
  for (const part of parts) {
    if (part instanceof ReadableStream) await part.pipeTo(writable, { preventClose: true });
    else await writeBytes(writable, part);
  }
  await writable.close();
}

async function writeBytes(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter();
  try {
    await writer.write(bytes);
  } finally {
    writer.releaseLock();
  }
}
