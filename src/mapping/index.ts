import { blockMapping } from './documents/block.ts'
import { callMapping } from './documents/call.ts'
import { contractMapping, tokenMapping } from './documents/contract.ts'
import { eventMapping, logMapping } from './documents/event.ts'
import { traceMapping } from './documents/trace.ts'
import { txMapping } from './documents/tx.ts'
import {
  type DocumentMapping,
  ENCODINGS,
  type Encoding,
  type Field,
  type FieldKind,
  type KindStorage,
  type ListField,
} from './kinds.ts'

export * from './kinds.ts'

/** In the order in which they stand at one place of the chain. */
const DOCUMENT_MAPPINGS = {
  block: blockMapping,
  tx: txMapping,
  log: logMapping,
  event: eventMapping,
  trace: traceMapping,
  call: callMapping,
  contract: contractMapping,
  token: tokenMapping,
} satisfies Record<string, DocumentMapping>
export type Kind = keyof typeof DOCUMENT_MAPPINGS
export const KINDS = Object.keys(DOCUMENT_MAPPINGS) as readonly Kind[]

/** THE declaration of what is indexed: names of kinds and fields everywhere derive from it. */
export const MAPPING: Readonly<Record<Kind, DocumentMapping>> = DOCUMENT_MAPPINGS

type StoredAs<S> = { [K in Kind]: (typeof DOCUMENT_MAPPINGS)[K]['stored'] extends S ? K : never }[Kind]

export type RecordKind = StoredAs<{ in: 'records' }>
export type RowKind = StoredAs<{ in: 'rows' }>
export type FieldwiseKind = StoredAs<{ by: 'fields' }>
export type CountedKind = 'block' | RecordKind

const kindsWhere = <K extends Kind>(test: (stored: DocumentMapping['stored']) => boolean): readonly K[] =>
  KINDS.filter(kind => test(MAPPING[kind].stored)) as K[]

export const RECORD_KINDS = kindsWhere<RecordKind>(stored => stored.in === 'records')
export const ROW_KINDS = kindsWhere<RowKind>(stored => stored.in === 'rows')
export const FIELDWISE_KINDS = kindsWhere<FieldwiseKind>(stored => 'by' in stored && stored.by === 'fields')
export const COUNTED_KINDS: readonly CountedKind[] = ['block', ...RECORD_KINDS]

export const placesPerRow = (kind: RecordKind): number =>
  (MAPPING[kind].stored as Extract<KindStorage, { in: 'records' }>).perRow

export const byKind = <K extends Kind, T>(kinds: readonly K[], make: (kind: K) => T): Record<K, T> =>
  Object.fromEntries(kinds.map(kind => [kind, make(kind)])) as Record<K, T>

/** A field as queries name it. */
export interface FieldPath {
  /** Full path, e.g. `blockNumber.num`, `args.value.hex`, `from.raw`. */
  path: string
  /** Path without the encoding, e.g. `blockNumber`, `args.value.hex`, `from`. */
  field: string
  /** `''`, `num`, `raw`, `coin`, `padded` or `dec`. */
  encoding: string
  kind: FieldKind
  compare: Encoding['compare']
  es: Exclude<Encoding['es'], 'flattened'>
  ignoreAbove: number | undefined
  declaration: Field
  list: { name: string; nested: boolean } | undefined
}

export const isListField = (field: Field | ListField): field is ListField => 'list' in field

export const wireName = (field: string, declaration: Field | ListField): string =>
  (isListField(declaration) ? undefined : declaration.wire) ?? field

interface FlatField {
  path: string
  field: Field
  list: { name: string; nested: boolean } | undefined
}

export const fieldsOf = (kind: Kind): FlatField[] =>
  Object.entries(MAPPING[kind].fields).flatMap(([name, field]): FlatField[] =>
    isListField(field)
      ? Object.entries(field.members).map(([member, inner]) => ({
          path: `${name}.${member}`,
          field: inner,
          list: { name, nested: field.list === 'nested' },
        }))
      : [{ path: name, field, list: undefined }],
  )

const pathsOf = (kind: Kind): Map<string, FieldPath> => {
  const paths = new Map<string, FieldPath>()
  for (const { path: field, field: declaration, list } of fieldsOf(kind)) {
    if (declaration.hidden) continue
    for (const [encoding, how] of Object.entries<Encoding>(ENCODINGS[declaration.kind])) {
      const path = encoding === '' ? field : `${field}.${encoding}`
      const { compare, es, ignoreAbove } = how
      paths.set(path, {
        ...{ path, field, encoding, kind: declaration.kind, compare, ignoreAbove, declaration, list },
        es: es === 'flattened' ? 'keyword' : es,
      })
    }
  }
  return paths
}

const PATHS = byKind(KINDS, pathsOf)

export const queryPaths = (kind: Kind): ReadonlyMap<string, FieldPath> => PATHS[kind]

/**
 * The field of a name in a query. Older names resolve, too: `.keyword` for `.raw` and for a keyword
 * itself, `.eth` for `.coin`.
 */
export const lookup = (kind: Kind, name: string): FieldPath | undefined => {
  const paths = PATHS[kind]
  const found = paths.get(name)
  if (found) return found
  const open = openFieldOf(paths, name)
  if (open) return open
  if (name.endsWith('.eth')) return paths.get(`${name.slice(0, -'eth'.length)}coin`)
  if (!name.endsWith('.keyword')) return undefined
  const base = name.slice(0, -'.keyword'.length)
  const exact = paths.get(`${base}.raw`) ?? lookup(kind, base)
  return exact?.es === 'keyword' ? exact : undefined
}

/** A member such as `extra.gatewayFee` of an object that may have any. */
const openFieldOf = (paths: ReadonlyMap<string, FieldPath>, name: string): FieldPath | undefined => {
  const field = paths.get(name.slice(0, Math.max(0, name.indexOf('.'))))
  return field?.kind === 'flattened' && !name.endsWith('.') ? { ...field, path: name } : undefined
}

const nestedIn = (kind: Kind): readonly string[] =>
  Object.entries(MAPPING[kind].fields).flatMap(([name, field]) =>
    isListField(field) && field.list === 'nested' ? [name] : [],
  )

const NESTED: ReadonlyMap<Kind, readonly string[]> = new Map(KINDS.map(kind => [kind, nestedIn(kind)]))

/** Lists that a `nested` clause may name as its path. */
export const nestedPaths = (kind: Kind): readonly string[] => NESTED.get(kind)!

export const parentKindsOf = (kind: Kind): readonly Kind[] => MAPPING[kind].parents as readonly Kind[]

export const childKindsOf = (kind: Kind): Kind[] => KINDS.filter(child => parentKindsOf(child).includes(kind))
