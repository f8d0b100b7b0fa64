import { block } from './documents/block.ts'
import { call } from './documents/call.ts'
import { contract, token } from './documents/contract.ts'
import { event, log } from './documents/event.ts'
import { trace } from './documents/trace.ts'
import { tx } from './documents/tx.ts'
import {
  type DocumentMapping,
  ENCODINGS,
  type Encoding,
  type Field,
  type FieldKind,
  type List,
  type Storage,
} from './kinds.ts'

export * from './kinds.ts'

/** Kinds of entities in the order in which they stand at one place of the chain. */
const DECLARED = { block, tx, log, event, trace, call, contract, token } satisfies Record<string, DocumentMapping>
export type Kind = keyof typeof DECLARED
export const KINDS = Object.keys(DECLARED) as readonly Kind[]

/** THE declaration of what is indexed. Everything that knows a kind's or a field's name derives it from here. */
export const MAPPING: Readonly<Record<Kind, DocumentMapping>> = DECLARED

type StoredAs<S> = { [K in Kind]: (typeof DECLARED)[K]['stored'] extends S ? K : never }[Kind]

/** Kinds that are stored as records. */
export type RecordKind = StoredAs<{ in: 'records' }>
/** Kinds that are few, and stored as rows. */
export type RowKind = StoredAs<{ in: 'rows' }>
/** Kinds whose records are written field by field. */
export type FieldwiseKind = StoredAs<{ by: 'fields' }>
/** Kinds whose documents segments number. */
export type CountedKind = 'block' | RecordKind

const kindsWhere = <K extends Kind>(test: (stored: DocumentMapping['stored']) => boolean): readonly K[] =>
  KINDS.filter(kind => test(MAPPING[kind].stored)) as K[]

export const RECORD_KINDS = kindsWhere<RecordKind>(stored => stored.in === 'records')
export const ROW_KINDS = kindsWhere<RowKind>(stored => stored.in === 'rows')
export const FIELDWISE_KINDS = kindsWhere<FieldwiseKind>(stored => 'by' in stored && stored.by === 'fields')
export const COUNTED_KINDS: readonly CountedKind[] = ['block', ...RECORD_KINDS]

/** Neighbouring places of a block whose records share a row. */
export const placesPerRow = (kind: RecordKind): number =>
  (MAPPING[kind].stored as Extract<Storage, { in: 'records' }>).perRow

/** A table with an entry for each of some kinds. */
export const byKind = <K extends Kind, T>(kinds: readonly K[], make: (kind: K) => T): Record<K, T> =>
  Object.fromEntries(kinds.map(kind => [kind, make(kind)])) as Record<K, T>

/** One way to ask for a field: what a query's field name resolves to. */
export interface FieldPath {
  /** Full path in its spelling of today, e.g. `blockNumber.num`, `args.value.hex`, `from.raw`. */
  path: string
  /** Path of the field without its encoding, e.g. `blockNumber`, `args.value.hex`, `from`. */
  field: string
  /** Sub-path of the encoding: `''`, `num`, `raw`, `coin`, `padded`. */
  encoding: string
  kind: FieldKind
  compare: Encoding['compare']
  es: Exclude<Encoding['es'], 'flattened'>
  ignoreAbove: number | undefined
  declaration: Field
  /** The list that the field is a member of. */
  list: { name: string; nested: boolean } | undefined
}

export const isList = (field: Field | List): field is List => 'list' in field

/** Member of the wire's object that a field is. */
export const wireName = (field: string, declaration: Field | List): string =>
  (isList(declaration) ? undefined : declaration.wire) ?? field

interface FlatField {
  path: string
  field: Field
  list: { name: string; nested: boolean } | undefined
}

/** Every field of a kind, lists flattened into their members. */
export const fieldsOf = (kind: Kind): FlatField[] =>
  Object.entries(MAPPING[kind].fields).flatMap(([name, field]): FlatField[] =>
    isList(field)
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
        // A condition on members of it is one on keywords.
        es: es === 'flattened' ? 'keyword' : es,
      })
    }
  }
  return paths
}

const PATHS = byKind(KINDS, pathsOf)

/** Every path that a query on this kind may name. */
export const queryPaths = (kind: Kind): ReadonlyMap<string, FieldPath> => PATHS[kind]

/**
 * The field that a query means by a name, or undefined. Names of the closed service's older generations resolve too:
 * `.keyword` for `.raw` and for a keyword itself, `.eth` for `.coin`.
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

/** What a name such as `extra.gatewayFee` means: a member, or one below it, of an object that may have any. */
const openFieldOf = (paths: ReadonlyMap<string, FieldPath>, name: string): FieldPath | undefined => {
  const field = paths.get(name.slice(0, Math.max(0, name.indexOf('.'))))
  return field?.kind === 'flattened' && !name.endsWith('.') ? { ...field, path: name } : undefined
}

const nestedIn = (kind: Kind): readonly string[] =>
  Object.entries(MAPPING[kind].fields).flatMap(([name, field]) =>
    isList(field) && field.list === 'nested' ? [name] : [],
  )

const NESTED: ReadonlyMap<Kind, readonly string[]> = new Map(KINDS.map(kind => [kind, nestedIn(kind)]))

/** Names of the lists of a kind that a `nested` clause may name as its path. */
export const nestedPaths = (kind: Kind): readonly string[] => NESTED.get(kind)!

/** What the documents of a kind may have as their parent, as the mapping declares it. */
export const parentsOf = (kind: Kind): readonly Kind[] => MAPPING[kind].parents as readonly Kind[]

export const childrenOf = (kind: Kind): Kind[] => KINDS.filter(child => parentsOf(child).includes(kind))
