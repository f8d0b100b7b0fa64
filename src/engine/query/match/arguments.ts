import { rememberedBy } from '../../../lib/caches.ts'
import type { Node } from '../../../query/ast.ts'
import {
  argumentField,
  argumentOf,
  argumentSlot,
  fieldOfTerm,
  logField,
  logTerms,
  OVERFLOW_SLOT,
  signatureOfLogField,
  TOO_LONG,
  termOf,
} from '../../index/terms.ts'
import type { Posting, StoredSignature, StoreReader } from '../../reader.ts'
import type { FieldCondition } from '../fields/field-values.ts'
import type { SegmentView } from '../fields/ordinals.ts'
import { argumentTerm, isExact, type Nested, numbersKey, termRanges } from '../plan/nested.ts'
import type { Plan } from '../plan/plan.ts'
import { numberCounter, numberMatches } from './argument-numbers.ts'
import { and, atLeast, complement, EMPTY_SET, isEmptySet, listed, type OrdinalSet, or } from './ordinal-set.ts'
import { byDocuments } from './record-filter.ts'
import { type MatchContext, postingsBySegment, type SegmentMatcher, union } from './segment-matcher.ts'

/** Nested conditions on arguments, as far as the index can answer them. */
export const createNested = (
  { nested, signatures }: Extract<Plan, { by: 'nested' }>,
  context: MatchContext,
): SegmentMatcher => {
  const documents = byDocuments({ op: 'nested', path: 'args', of: nested.node }, context)
  const { reader } = context
  const required =
    nested.required && postingsBySegment(context, among => requiredPostings(nested, signatures, { reader, among }))
  let known: number[] | undefined
  const possible = () => {
    known ??= possibleIds(nested, signatures, reader)
    return known
  }

  const rolesIn = (segment: number): Map<number, Posting[]> => {
    if (required) return Map.groupBy(required(segment), ({ term }) => fieldOfTerm(term))
    const ids = possible().length > FEW_POSSIBLE ? idsIn(segment, possible(), reader) : possible()
    return new Map(ids.map(id => [id, []]))
  }

  let counter: ReturnType<typeof numberCounter> | null = null

  return {
    events: true,
    where: required?.where,
    count({ segment }) {
      if (!nested.required) {
        if (counter === null) counter = numberCounter(possible(), nested, reader)
        return counter?.(segment)
      }
      // One posting of the only required value, no other condition: its length is the count.
      if (nested.required.length !== 1) return undefined
      const [only, ...others] = required!(segment.id).filter(({ term }) => mayMatch(term, nested, signatures))
      if (!only) return 0
      const { signature, slot } = argumentOf(fieldOfTerm(only.term))
      const alone = others.length === 0 && slot !== OVERFLOW_SLOT && nested.forRole(signature, slot).op === 'in'
      return alone ? only.n : undefined
    },
    matches(at) {
      const roles = rolesIn(at.segment.id)
      const found: OrdinalSet[] = []
      const doubtful: OrdinalSet[] = []
      for (const [id, postings] of roles) {
        reader.check()
        const { signature, slot } = argumentOf(id)
        if (signatures && !signatures.has(signature)) continue
        const positions = nested.positions(signature, slot)
        for (const position of positions) {
          const residual = nested.forRole(signature, position)
          if (residual.op === 'none') continue
          const role = { signature, position, postings: required ? postings : undefined, nested, reader, at }
          if (positions.length > 1) doubtful.push(required ? union(postings, reader, at.size) : logsOf(role))
          else if (isExact(residual)) found.push(matchRole(residual, role))
          else doubtful.push(candidates(residual, role))
        }
      }
      const sure = or(found, at.size)
      if (doubtful.length === 0) return sure
      const unsure = and(or(doubtful, at.size), complement(sure, at.size), at.size)
      return or([sure, documents.matches(at, unsure)], at.size)
    },
  }
}

/** Logs that may match a condition that the index cannot fully answer. */
const candidates = (residual: Node, role: ArgumentRole): OrdinalSet => {
  const exact = residual.op === 'and' ? residual.of.filter(isExact) : []
  return exact.length > 0 ? matchRole({ op: 'and', of: exact }, role) : logsOf(role)
}

const mayMatch = (term: number, nested: Nested, signatures: ReadonlySet<number> | undefined): boolean => {
  const { signature, slot } = argumentOf(fieldOfTerm(term))
  if (signatures && !signatures.has(signature)) return false
  return nested.positions(signature, slot).some(position => nested.forRole(signature, position).op !== 'none')
}

/** Up to this number, roles are looked up one by one; else by the range of all roles of a value. */
const FEW_ROLES = 3

/** Postings of the values of which every match has at least one. */
const requiredPostings = (
  nested: Nested,
  signatures: ReadonlySet<number> | undefined,
  { reader, among }: { reader: StoreReader; among: ReadonlySet<number> | undefined },
): Posting[] => {
  const ids =
    signatures &&
    [...signatures].flatMap(id => argumentIds(id, reader)).filter(id => mayMatch(termOf(0, id), nested, signatures))
  return nested.required!.flatMap(keys => {
    if (!ids || ids.length > FEW_ROLES)
      return termRanges(keys).flatMap(({ first, last, fingerprint }) =>
        reader.postingsBetween(first, last, among).filter(posting => posting.fingerprint === fingerprint),
      )
    return ids.flatMap(id => {
      const terms = [{ term: termOf(keys.hash.value, id), fingerprint: keys.hash.fingerprint }]
      if (keys.address !== undefined) terms.push({ term: termOf(keys.address, id), fingerprint: 0 })
      return terms.flatMap(({ term, fingerprint }) => reader.postings(term, fingerprint, among))
    })
  })
}

/** Up to this number, roles are queried in each segment without a search for them. */
const FEW_POSSIBLE = 64

/** Field ids of arguments that may match, of all signatures or of these. */
const possibleIds = (nested: Nested, signatures: ReadonlySet<number> | undefined, reader: StoreReader): number[] =>
  [...signaturesWith(nested.names, nested.of, reader)]
    .filter(id => signatures?.has(id) ?? true)
    .flatMap(id => argumentIds(id, reader))
    .filter(id => mayMatch(termOf(0, id), nested, undefined))

/** The signatures that the segment has logs or calls of. */
const idsIn = (segment: number, ids: readonly number[], reader: StoreReader): number[] => {
  const [first, last] = logTerms(0)
  const terms = reader.termsBetween(segment, first, last)
  const present = new Set(terms.map(({ term }) => signatureOfLogField(fieldOfTerm(term))))
  return ids.filter(id => present.has(argumentOf(id).signature))
}

/** Signatures with arguments of these names; all without names. */
const signaturesWith = (names: readonly string[] | undefined, of: Nested['of'], reader: StoreReader): Set<number> => {
  const all = reader.signatures(of)
  if (!names) return new Set(all.map(({ id }) => id))
  const byName = byArgumentName(all)
  return names.reduce((found, name) => found.union(byName.get(name) ?? new Set()), new Set<number>())
}

/** Signatures by the names of their arguments. A reader keeps its list until there are more. */
const byArgumentName = rememberedBy((signatures: readonly StoredSignature[]) => {
  const byName = new Map<string, Set<number>>()
  for (const { id, event } of signatures)
    for (const { name } of event?.inputs ?? []) {
      const ids = byName.get(name)
      if (ids) ids.add(id)
      else byName.set(name, new Set([id]))
    }
  return byName
})

const argumentIds = (signature: number, reader: StoreReader): number[] => {
  const { event, error } = reader.signature(signature)
  const slots = new Set((error === null ? (event?.inputs ?? []) : []).map((_, position) => argumentSlot(position)))
  return [...slots].map(slot => argumentField(signature, slot))
}

export interface ArgumentRole {
  signature: number
  position: number
  /** The postings of this role among those of the required values. */
  postings: readonly Posting[] | undefined
  nested: Nested
  reader: StoreReader
  at: SegmentView
}

export const matchRole = (node: Node, role: ArgumentRole): OrdinalSet => {
  const { at, reader, signature } = role
  reader.check()
  switch (node.op) {
    case 'all':
      return logsOf(role)
    case 'none':
      return EMPTY_SET
    case 'and': {
      let found: OrdinalSet | undefined
      for (const inner of node.of) {
        const matched = matchRole(inner, role)
        found = found ? and(found, matched, at.size) : matched
        if (isEmptySet(found)) return EMPTY_SET
      }
      return found ?? EMPTY_SET
    }
    case 'or':
      return or(
        node.of.map(inner => matchRole(inner, role)),
        at.size,
      )
    case 'atLeast':
      return and(
        atLeast(
          node.of.map(inner => matchRole(inner, role)),
          node.count,
          at.size,
        ),
        logsOf(role),
        at.size,
      )
    case 'not':
      return and(complement(matchRole(node.of, role), at.size), logsOf(role), at.size)
    case 'in':
      if (node.field.field === 'args.value.hex') return hexMatches(node, role)
      return numberRoleMatches(node, role)
    case 'exists':
      if (node.field.field === 'args.value.hex') return shortValues(role)
      return numberRoleMatches(node, role)
    case 'range':
      return numberRoleMatches(node, role)
    case 'fuzzy':
    case 'pattern':
    case 'phrase':
    case 'ids':
    case 'nested':
    case 'child':
    case 'parent':
    case 'compare':
    case 'element':
      throw new Error(`${node.op} inside nested conditions of signature ${signature} in ${reader.db.name}`)
  }
}

const logsOf = ({ signature, reader, at }: ArgumentRole): OrdinalSet => {
  const [posting] = reader.termsBetween(at.segment.id, termOf(0, logField(signature)), termOf(0, logField(signature)))
  return posting ? listed(reader.ordinals(posting)) : EMPTY_SET
}

const numberRoleMatches = (leaf: FieldCondition, { signature, position, reader, at }: ArgumentRole): OrdinalSet =>
  numberMatches(leaf, numbersKey(leaf, signature, argumentSlot(position)), at, reader)

const hexMatches = (
  leaf: FieldCondition & { op: 'in' },
  { signature, position, postings, nested, reader, at }: ArgumentRole,
): OrdinalSet => {
  const type = reader.signature(signature).event!.inputs[position]!.type
  const id = argumentField(signature, argumentSlot(position))
  const found = leaf.values.flatMap((value): Posting[] => {
    const key = argumentTerm(nested.keysOf(String(value)), type, id)
    if (!key) return []
    const known = postings?.filter(posting => posting.term === key.term && posting.fingerprint === key.fingerprint)
    return (
      known ??
      reader
        .termsBetween(at.segment.id, key.term, key.term)
        .filter(({ fingerprint }) => fingerprint === key.fingerprint)
    )
  })
  return union(found, reader, at.size)
}

/** Logs whose argument is not longer than an index of keywords holds. */
const shortValues = (role: ArgumentRole): OrdinalSet => {
  const { signature, position, reader, at } = role
  const long = termOf(TOO_LONG, argumentField(signature, argumentSlot(position)))
  const postings = reader.termsBetween(at.segment.id, long, long)
  return and(logsOf(role), complement(union(postings, reader, at.size), at.size), at.size)
}
