import { fullType } from '../../decode/signature.ts'
import type { EventAbi } from '../../decode/types.ts'
import type { DocumentDecoding } from '../../documents/document.ts'
import type { Kind } from '../../mapping/index.ts'
import { type ArgumentOfDocument, commonDecimals } from '../../query/shown-decimals.ts'
import type { StoreReader } from '../reader.ts'

/** Finds the decoding of a document by its shown fields and the known declarations. */
export type Decodings = ReturnType<typeof createDecodings>

export const createDecodings = (reader: StoreReader) => {
  const known = { event: createShapes(reader, 'log'), call: createShapes(reader, 'call') }
  return {
    /**
     * Several if declarations differ only in hidden details, none if undecoded. Call it between the
     * reader's `begin` and `end`.
     */
    of(kind: Kind, { event, method, args }: Record<string, unknown>): readonly DocumentDecoding[] {
      if (kind !== 'event' && kind !== 'call') return []
      const shown = args as readonly ArgumentOfDocument[]
      const shape = shapeOf(
        kind === 'event' ? event : method,
        shown.map(({ name, value }) => [value.type, name]),
      )
      const decimals = commonDecimals(shown)
      return known[kind](shape).map(inputs => ({ inputs, decimals }))
    },
  }
}

/** Declarations by their shown part. */
const createShapes = (reader: StoreReader, of: 'log' | 'call'): ((shape: string) => readonly EventAbi['inputs'][]) => {
  const shapes = new Map<string, Map<string, EventAbi['inputs']>>()
  let read = 0
  return shape => {
    const all = reader.signatures(of)
    for (const { event } of all.slice(read)) {
      if (!event) continue
      const own = shapeOf(
        event.name,
        event.inputs.map(input => [fullType(input), input.name]),
      )
      const same = shapes.get(own) ?? new Map<string, EventAbi['inputs']>()
      shapes.set(own, same.set(JSON.stringify(event.inputs), event.inputs))
    }
    read = all.length
    return [...(shapes.get(shape)?.values() ?? [])]
  }
}

const shapeOf = (name: unknown, args: readonly (readonly string[])[]): string => JSON.stringify([name, args])
