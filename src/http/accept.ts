import type { Format } from '../search/service.ts'

/** Media types that a search can be answered in. Behind those of JSON nothing else is looked for. */
const TYPES: ReadonlyMap<string, Format | 'json'> = new Map([
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['text/csv', 'csv'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['*/*', 'json'],
])

/** What the client would rather have than JSON, by its header Accept. */
export const formatOf = (accept: string | undefined): Format | undefined => {
  if (accept === undefined || accept.length > LONGEST) return undefined
  const wanted = accept
    .split(',')
    .map(part => {
      const [type = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
      const quality = parameters.find(text => text.startsWith('q='))
      const isRaw = type === 'text/csv' && parameters.includes('formulas=raw')
      const format = isRaw ? 'raw-csv' : TYPES.get(type)
      return { format, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 }
    })
    .toSorted((a, b) => b.quality - a.quality)
  const found = wanted.find(({ format }) => format !== undefined)?.format
  return found === 'json' ? undefined : found
}

const LONGEST = 1_000
