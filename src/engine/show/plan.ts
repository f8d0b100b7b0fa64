import type { ByteWriter } from '../../lib/bytes.ts'
import {
  ENCODINGS,
  type Encoding,
  type FieldKind,
  isListField,
  KINDS,
  type Kind,
  type ListField,
  MAPPING,
  nestedPaths,
} from '../../mapping/index.ts'
import { compileSourcePaths } from '../../query/hits/source-filter.ts'
import type { SourceFilter, SourceShape } from '../../query/request.ts'
import type { FieldPlan } from '../forms/form.ts'
import { type JsonMember, memberKey, writeObject } from '../forms/json.ts'

export interface SourcePlan {
  /** Undefined if the field is not shown at all. */
  field(name: string): FieldPlan | undefined
  /** Whether an object of fields is shown even if it is empty or null. */
  isShown(path: string): boolean
}

/** Parts of a kind's `_source` that pass a filter; undefined without `_source`. */
export const planSource = (kind: Kind, filter: SourceFilter): SourcePlan | undefined => {
  const { any, of, cut } = compileSourcePaths(filter)
  if (!any) return undefined
  const { flatArgs, eth }: SourceShape = typeof filter === 'object' ? filter : {}
  return {
    field(name) {
      const plain = PATHS_BELOW.get(kind)!.get(name)!
      const below = eth && holdsAmount(kind, name) ? [...plain, `${name}.eth`] : plain
      const flat = flatArgs === true && nestedPaths(kind).includes(name)
      const shown = of(name, below)
      if (isOpenObject(kind, name)) return { shown: 'part', single: false, members: 0, cut: value => cut(value, name) }
      if (shown === 'none') return undefined
      const members = below.reduce((bits, path, i) => (of(path) === 'whole' ? bits | (1 << i) : bits), 0)
      const plan = { shown, single: of(name) === 'whole', members, cut: (value: unknown) => cut(value, name) }
      return flat ? { ...plan, flat } : plan
    },
    isShown: path => of(path) === 'whole',
  }
}

const holdsAmount = (kind: Kind, name: string): boolean => {
  const field = MAPPING[kind].fields[name]!
  return !isListField(field) && field.kind === 'amount'
}

/** An object with arbitrary members: only `cut` decides whether any are left. */
const isOpenObject = (kind: Kind, name: string): boolean => {
  const field = MAPPING[kind].fields[name]!
  return !isListField(field) && field.kind === 'flattened'
}

/** Member names of an object field, if it is one. */
const shownMembersOf = (kind: FieldKind): readonly string[] =>
  '' in ENCODINGS[kind]
    ? []
    : Object.entries<Encoding>(ENCODINGS[kind]).flatMap(([name, { apart }]) => (apart ? [] : [name]))

const shownMembers = ({ members }: ListField): string[] =>
  Object.entries(members).flatMap(([name, { kind }]) => (kind === 'decimal' ? [] : [name]))

const pathsBelow = (kind: Kind, name: string): string[] => {
  const field = MAPPING[kind].fields[name]!
  return (isListField(field) ? shownMembers(field) : shownMembersOf(field.kind)).map(member => `${name}.${member}`)
}

const PATHS_BELOW = new Map(
  KINDS.map(kind => [kind, new Map(Object.keys(MAPPING[kind].fields).map(name => [name, pathsBelow(kind, name)]))]),
)

/** Appends the current document's value; false if it has none. */
export type WriteField = (out: ByteWriter) => boolean

export type WriteBy = (plan: FieldPlan) => WriteField

export const writeAlways =
  (write: (out: ByteWriter) => void): WriteField =>
  out => {
    write(out)
    return true
  }

/** The members of `_source` in the order of the mapping. */
export const planMembers = (plan: SourcePlan, fields: Readonly<Record<string, WriteBy>>): JsonMember[] =>
  Object.entries(fields).flatMap(([name, writeBy]) => {
    const field = plan.field(name)
    return field ? [{ key: memberKey(name), write: writeBy(field) }] : []
  })

/** Creates the writer of `_source`; undefined if a filter leaves none. */
export const sourceWriter =
  (kind: Kind, fields: Readonly<Record<string, WriteBy>>) =>
  (filter: SourceFilter): ((out: ByteWriter) => void) | undefined => {
    const plan = planSource(kind, filter)
    const members = plan && planMembers(plan, fields)
    return members && (out => writeObject(out, members))
  }
