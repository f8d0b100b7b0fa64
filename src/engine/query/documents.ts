import type { Document } from '../../documents/document.ts'
import type { BigIntegers } from '../../documents/show.ts'
import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import { byKind, type FieldPath, isListField, KINDS, type Kind, MAPPING } from '../../mapping/index.ts'
import type { Node, QueryValue } from '../../query/ast.ts'
import { indexedValuesOf } from '../../query/predicate.ts'
import { innerNodes } from '../../query/simplify.ts'
import type { StoreReader } from '../reader.ts'
import { type Show, showsOf } from '../show/source-writers.ts'

export interface Documents {
  /**
   * Documents at these positions in the same order; undefined if not stored (any more). With
   * `fields`, `_source` has at least these.
   */
  load(kind: Kind, positions: readonly number[], fields?: readonly string[]): (Document | undefined)[]
}

/** Documents as objects, parsed from their JSON; `big` converts long integers. */
export const createDocuments = (reader: StoreReader, big: BigIntegers): Documents => {
  const shows = showsOf(reader)
  const out = createByteWriter(1 << 12)
  const writers = new Map<string, Write>()

  const writerOf = (kind: Kind, fields: readonly string[] | undefined): Write => {
    const key = `${kind} ${fields}`
    let write = writers.get(key)
    if (!write) {
      const includes = fields?.length === 0 ? [NO_FIELD] : [...(fields ?? [])]
      write = shows[kind].source({ includes, excludes: [] })!
      if (writers.size >= WRITERS) writers.clear()
      writers.set(key, write)
    }
    return write
  }

  const text = (write: Write): string => {
    out.truncate(0)
    write(out)
    return out.latin1()
  }

  const source = (kind: Kind, write: Write): SourceObject => {
    out.truncate(0)
    write(out)
    const parsed = JSON.parse(out.view().toString()) as SourceObject
    restoreIntegers(kind, parsed, big)
    return parsed
  }

  const read = (show: Show, kind: Kind, write: Write): Document => {
    const { routing, parent, decoding } = show
    const document: Document = {
      _id: text(show.id),
      ...(routing && { _routing: text(routing) }),
      ...(parent && { _parent: text(parent) }),
      _source: source(kind, write),
    }
    const decoded = decoding?.()
    if (decoded) document.decoding = decoded
    return document
  }

  return {
    load: (kind, positions, fields) =>
      positions.map(position => {
        const show = shows[kind]
        return show.find(position) ? read(show, kind, writerOf(kind, fields)) : undefined
      }),
  }
}

type Write = (out: ByteWriter) => void

const WRITERS = 200
/** An empty list would include everything. */
const NO_FIELD = ''

/** Reads only one field of a document; empty if the document was removed. */
export const fieldValues = (kind: Kind, field: FieldPath, exact: Documents): ((position: number) => QueryValue[]) => {
  const names = [memberName(field)]
  return position => {
    const [document] = exact.load(kind, [position], names)
    return document ? indexedValuesOf(field, document._source) : []
  }
}

/** The member of `_source` that holds the path. */
export const memberName = ({ list, field }: FieldPath): string => list?.name ?? field

/** Fields that a condition reads; undefined if it may read all. */
export const fieldsRead = (node: Node): string[] | undefined => {
  if (['child', 'parent', 'compare', 'element'].includes(node.op)) return undefined
  if ('field' in node) return [memberName(node.field)]
  const parts = innerNodes(node).map(fieldsRead)
  return parts.includes(undefined) ? undefined : [...new Set((parts as string[][]).flat())]
}

type SourceObject = Record<string, unknown>

/** Paths of fields that have an integer as number and as hex. */
const INTEGERS = byKind(KINDS, kind =>
  Object.entries(MAPPING[kind].fields).flatMap(([name, field]) =>
    !isListField(field) && (field.kind === 'quantity' || field.kind === 'amount') ? [name.split('.')] : [],
  ),
)

/** Numbers beyond 2^53 lose digits when parsed; restores them from the hex. */
export const restoreIntegers = (kind: Kind, source: SourceObject, big: BigIntegers) => {
  for (const [outer, inner] of INTEGERS[kind]) {
    let shown = source[outer!] as SourceObject | null | undefined
    if (inner !== undefined) shown = shown?.[inner] as SourceObject | null | undefined
    if (isInexact(shown)) shown.num = big(BigInt(shown.raw))
  }
  if ((kind !== 'event' && kind !== 'call') || source.args === undefined) return
  for (const { value } of source.args as { value: SourceObject }[])
    if (isInexact(value)) {
      const { hex, num } = value as unknown as { hex: string; num: number }
      value.num = big(num < 0 ? BigInt.asIntN(4 * (hex.length - 2), BigInt(hex)) : BigInt(hex))
    }
}

const isInexact = (shown: SourceObject | null | undefined): shown is { num: unknown; raw: string } =>
  typeof shown?.num === 'number' && !Number.isSafeInteger(shown.num)
