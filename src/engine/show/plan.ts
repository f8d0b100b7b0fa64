import type { ByteWriter } from '../../lib/bytes.ts'
import {
  ENCODINGS,
  type Encoding,
  type FieldKind,
  isList,
  KINDS,
  type Kind,
  type List,
  MAPPING,
} from '../../mapping/index.ts'
import { compileSourcePaths } from '../../query/hits/source-filter.ts'
import type { SourceFilter } from '../../query/request.ts'
import type { FieldPlan } from '../forms/form.ts'
import { keyOf, type Member, writeObject } from '../forms/json.ts'

export interface SourcePlan {
  /** Undefined where nothing of it is shown. */
  field(name: string): FieldPlan | undefined
  /** Whether an object that holds fields is shown also where none of them is, or where it is null. */
  isShown(path: string): boolean
}

/** What a filter shows of documents of a kind; undefined where that is no `_source` at all. */
export const planSource = (kind: Kind, filter: SourceFilter): SourcePlan | undefined => {
  const { any, of, cut } = compileSourcePaths(filter)
  if (!any) return undefined
  return {
    field(name) {
      const below = BELOW.get(kind)!.get(name)!
      const shown = of(name, below)
      if (isOpen(kind, name)) return { shown: 'part', single: false, members: 0, cut: value => cut(value, name) }
      if (shown === 'none') return undefined
      const members = below.reduce((bits, path, i) => (of(path) === 'whole' ? bits | (1 << i) : bits), 0)
      return { shown, single: of(name) === 'whole', members, cut: value => cut(value, name) }
    },
    isShown: path => of(path) === 'whole',
  }
}

/** Of an object with any members only what is cut tells whether something is left. */
const isOpen = (kind: Kind, name: string): boolean => {
  const field = MAPPING[kind].fields[name]!
  return !isList(field) && field.kind === 'flattened'
}

/** Members of what a kind of field is shown as; none where that is a single value. */
const membersOf = (kind: FieldKind): readonly string[] =>
  '' in ENCODINGS[kind]
    ? []
    : Object.entries<Encoding>(ENCODINGS[kind]).flatMap(([name, { apart }]) => (apart ? [] : [name]))

const shownMembers = ({ members }: List): string[] =>
  Object.entries(members).flatMap(([name, { kind }]) => (kind === 'decimal' ? [] : [name]))

const pathsBelow = (kind: Kind, name: string): string[] => {
  const field = MAPPING[kind].fields[name]!
  return (isList(field) ? shownMembers(field) : membersOf(field.kind)).map(member => `${name}.${member}`)
}

const BELOW = new Map(
  KINDS.map(kind => [kind, new Map(Object.keys(MAPPING[kind].fields).map(name => [name, pathsBelow(kind, name)]))]),
)

/** Appends the value of the document at hand; false where the document does not have the field. */
export type Write = (out: ByteWriter) => boolean

/** Makes what appends a field by how it is shown. */
export type WriteBy = (plan: FieldPlan) => Write

/** What every document has. */
export const always =
  (write: (out: ByteWriter) => void): Write =>
  out => {
    write(out)
    return true
  }

/** The members of `_source` in the order in which the kind lists its fields. */
export const planMembers = (plan: SourcePlan, fields: Readonly<Record<string, WriteBy>>): Member[] =>
  Object.entries(fields).flatMap(([name, writeBy]) => {
    const field = plan.field(name)
    return field ? [{ key: keyOf(name), write: writeBy(field) }] : []
  })

/** Makes what writes `_source` of a kind from what appends its fields; undefined where a filter leaves none of it. */
export const sourceWriter =
  (kind: Kind, fields: Readonly<Record<string, WriteBy>>) =>
  (filter: SourceFilter): ((out: ByteWriter) => void) | undefined => {
    const plan = planSource(kind, filter)
    const members = plan && planMembers(plan, fields)
    return members && (out => writeObject(out, members))
  }
