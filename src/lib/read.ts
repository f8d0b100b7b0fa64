import { closeSync, openSync, readSync } from 'node:fs'

const READ_SIZE = 1 << 20

/** Reads a file, pipe or device; undefined, without reading on, beyond `most` bytes. */
export const readAtMost = (path: string, most: number): Buffer | undefined => {
  const file = openSync(path, 'r')
  try {
    const parts: Buffer[] = []
    for (let total = 0; ; ) {
      const part = Buffer.allocUnsafe(READ_SIZE)
      const size = readSync(file, part, 0, READ_SIZE, null)
      if (size === 0) return Buffer.concat(parts)
      total += size
      if (total > most) return undefined
      parts.push(part.subarray(0, size))
    }
  } finally {
    closeSync(file)
  }
}

/** Collects a stream; undefined beyond `most` bytes. */
export const collectAtMost = async (stream: AsyncIterable<unknown>, most: number): Promise<Buffer | undefined> => {
  const parts: Buffer[] = []
  let total = 0
  for await (const chunk of stream) {
    const part = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer)
    total += part.length
    if (total > most) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
