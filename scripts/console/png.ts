import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** A PNG of 8 bits a channel, written anew with at most 256 colours: text and bars lose nothing that is seen, and take a third of the room. */
export const withPalette = (png: Buffer): Buffer => {
  const { width, height, channels, pixels } = decode(png)
  const count = new Map<number, number>()
  const colours = new Uint32Array(width * height)
  for (let i = 0; i < colours.length; i++) {
    const [r, g, b] = [0, 1, 2].map(channel => pixels[i * channels + channel]!)
    colours[i] = (r! << 16) | (g! << 8) | b!
    count.set(colours[i]!, (count.get(colours[i]!) ?? 0) + 1)
  }
  const palette = [...count]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 256)
    .map(([colour]) => colour)
  const places = new Map(palette.map((colour, i) => [colour, i]))
  for (const colour of count.keys()) if (!places.has(colour)) places.set(colour, nearest(palette, colour))

  const lines = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = places.get(colours[y * width + x]!)!
  const entries = Buffer.from(palette.flatMap(colour => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  return encode(width, height, 3, lines, [chunk('PLTE', entries)])
}

/** Brightness of an image by squares of so many pixels, from 0 to 255. */
export interface Greys {
  width: number
  height: number
  greys: Uint8Array
}

export const greysOf = (png: Buffer, square = 1): Greys => {
  const image = decode(png)
  const [width, height] = [image.width, image.height].map(it => Math.floor(it / square)) as [number, number]
  const sums = new Float64Array(width * height)
  for (let y = 0; y < height * square; y++)
    for (let x = 0; x < width * square; x++) {
      const at = (y * image.width + x) * image.channels
      const [r, g, b] = image.channels < 3 ? [0, 0, 0] : image.pixels.subarray(at, at + 3)
      const grey = image.channels < 3 ? image.pixels[at]! : 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
      sums[Math.floor(y / square) * width + Math.floor(x / square)]! += grey
    }
  return { width, height, greys: Uint8Array.from(sums, sum => Math.round(sum / square ** 2)) }
}

export const greyPng = ({ width, height, greys }: Greys): Buffer => {
  const lines = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) {
    // Each grey as the difference to the one on its left, which compresses well.
    lines[y * (width + 1)] = 1
    for (let x = 0; x < width; x++)
      lines[y * (width + 1) + 1 + x] = greys[y * width + x]! - (x > 0 ? greys[y * width + x - 1]! : 0)
  }
  return encode(width, height, 0, lines)
}

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** `lines` start with their filter; `more` is between header and pixels. */
const encode = (width: number, height: number, kind: number, lines: Buffer, more: readonly Buffer[] = []): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, kind, 0, 0, 0], 8)
  const pixels = chunk('IDAT', deflateSync(lines, { level: 9 }))
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), ...more, pixels, chunk('IEND', Buffer.alloc(0))])
}

const nearest = (palette: readonly number[], colour: number): number => {
  let [best, least] = [0, Number.POSITIVE_INFINITY]
  for (const [i, other] of palette.entries()) {
    const distance = [16, 8, 0].reduce((sum, at) => sum + (((other >> at) & 255) - ((colour >> at) & 255)) ** 2, 0)
    if (distance < least) [best, least] = [i, distance]
  }
  return best
}

const decode = (png: Buffer) => {
  const parts = new Map<string, Buffer[]>()
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    parts.set(type, [...(parts.get(type) ?? []), png.subarray(at + 8, at + 8 + length)])
    at += 12 + length
  }
  const header = parts.get('IHDR')![0]!
  const [width, height, depth, kind] = [header.readUInt32BE(0), header.readUInt32BE(4), header[8], header[9]]
  const channels = { 0: 1, 2: 3, 6: 4 }[kind!]
  if (depth !== 8 || channels === undefined) throw new Error(`a PNG of kind ${kind} with ${depth} bits is not expected`)
  const lines = inflateSync(Buffer.concat(parts.get('IDAT')!))
  return { width, height, channels, pixels: unfilter(lines, width * channels, height, channels) }
}

/** Undoes what each line was predicted by: none, left, up, their mean, or Paeth's choice. */
const unfilter = (lines: Buffer, size: number, height: number, step: number): Buffer => {
  const out = Buffer.alloc(size * height)
  for (let y = 0; y < height; y++) {
    const filter = lines[y * (size + 1)]!
    for (let x = 0; x < size; x++) {
      const left = x >= step ? out[y * size + x - step]! : 0
      const up = y > 0 ? out[(y - 1) * size + x]! : 0
      const corner = x >= step && y > 0 ? out[(y - 1) * size + x - step]! : 0
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!
      out[y * size + x] = lines[y * (size + 1) + 1 + x]! + predicted
    }
  }
  return out
}

const paeth = (left: number, up: number, corner: number): number => {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

const chunk = (type: string, data: Buffer): Buffer => {
  const [head, body, tail] = [Buffer.alloc(4), Buffer.concat([Buffer.from(type, 'latin1'), data]), Buffer.alloc(4)]
  head.writeUInt32BE(data.length)
  tail.writeUInt32BE(crc32(body))
  return Buffer.concat([head, body, tail])
}
