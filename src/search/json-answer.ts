import type { SearchAnswer } from './service.ts'

/** The JSON of an answer to the program's own search; integers above 2^53 lose digits. */
export const readJsonAnswer = async <T>({ status, body }: SearchAnswer): Promise<T> => {
  const text =
    body instanceof Uint8Array
      ? Buffer.from(body.buffer, body.byteOffset, body.length).toString()
      : await new Response(body).text()
  if (status !== 200) throw new Error(`a search was answered ${status}: ${text}`)
  return JSON.parse(text) as T
}
