import { didYouMean } from '../lib/name-matching.ts'
import { fieldsOf, isListField, KINDS, type Kind, MAPPING, nestedPaths, queryPaths } from '../mapping/index.ts'
import { isAttribute } from '../query/compare.ts'
import { shortenText } from '../query/json.ts'
import { kindOfTarget, type TargetType } from './rule.ts'
import { STATE_FIELD_NAMES, stateAttributeFault } from './state/fields.ts'

/**
 * Path into a document of a condition's name and those of the `Inspect`s around it. The outermost
 * may be written with dots (`value.coin`).
 */
export const attributeSteps = (kind: Kind, names: readonly string[]): string[] => {
  const [name = '', ...inspected] = withoutList(kind, names)
  const [first = '', second, ...rest] = [...name.split('.'), ...inspected]
  if (second === undefined) return [first]
  // Fields of objects, such as a trace's `action.from`, are one step.
  const inner = `${first}.${second}`
  return Object.hasOwn(MAPPING[kind].fields, inner) ? [inner, ...rest] : [first, second, ...rest]
}

/** The list of which old rules take the document as an element is the document itself. */
const withoutList = (kind: Kind, names: readonly string[]): readonly string[] => {
  const { listedAs } = MAPPING[kind]
  const written = names.join('.')
  return listedAs !== undefined && written.startsWith(`${listedAs}.`) ? [written.slice(listedAs.length + 1)] : names
}

export const findAttribute = (
  kind: Kind,
  names: readonly string[],
): { known: true } | { known: false; remedy: string } => {
  const steps = attributeSteps(kind, names)
  if (isAttribute(steps, kind)) return { known: true }
  const written = steps.join('.')
  if (nestedPaths(kind).includes(written))
    return { known: false, remedy: ' Use Inspect to reach one of its elements, or an argument by its name.' }
  const below = fieldsOf(kind).flatMap(({ path }) => (path.startsWith(`${written}.`) ? [path] : []))
  if (below.length > 0) return { known: false, remedy: ` It is a list of objects: name ${below.join(' or ')}.` }
  return { known: false, remedy: didYouMean(shortenText(joinWithoutPlaces(steps)), attributesOf(kind)) }
}

const attributeNames = (kind: Kind): readonly string[] => {
  const names = fieldsOf(kind).filter(({ list }) => !list?.nested)
  return [
    ...new Set([
      ...names.map(({ path }) => path),
      ...[...queryPaths(kind).values()].filter(({ list }) => !list?.nested).map(({ path }) => path),
      ...nestedPaths(kind),
    ]),
  ]
}

/** A rule may name thousands of them. */
const ATTRIBUTES: ReadonlyMap<Kind, readonly string[]> = new Map(KINDS.map(kind => [kind, attributeNames(kind)]))

/** Names that conditions may have, without places in lists and names of arguments. */
export const attributesOf = (kind: Kind): readonly string[] => ATTRIBUTES.get(kind)!

/** Describes the fault in a condition's names, if any, in one or two sentences. */
export const checkAttribute = (targetType: TargetType, names: readonly string[]): string | undefined => {
  if (targetType === 'State') return stateAttributeFault(names)
  const kind = kindOfTarget(targetType)
  const found = findAttribute(kind, names)
  if (found.known) return undefined
  return `${MAPPING[kind].name} has no attribute "${shortenText(attributeSteps(kind, names).join('.'))}" to compare.${found.remedy}`
}

/** Describes the fault in the name of an outermost `Inspect`, if any. */
export const checkOutermost = (targetType: TargetType, name: string): string | undefined => {
  if (targetType === 'State')
    return STATE_FIELD_NAMES.includes(name.split('.')[0]!)
      ? undefined
      : `A reading has nothing named "${shortenText(name)}" to inspect.${didYouMean(shortenText(name), STATE_FIELD_NAMES)}`
  const kind = kindOfTarget(targetType)
  if (leadsToAttribute(kind, name)) return undefined
  return `${MAPPING[kind].name} has nothing named "${shortenText(name)}" to inspect.${didYouMean(shortenText(name), attributesOf(kind))}`
}

/** Whether a dotted name is an attribute or a prefix of one. Contracts may declare any argument. */
export const leadsToAttribute = (kind: Kind, name: string): boolean => {
  if (name === MAPPING[kind].listedAs) return true
  const plain = joinWithoutPlaces(withoutList(kind, [name])[0]!.split('.'))
  const inside = nestedPaths(kind).some(path => plain.startsWith(`${path}.`))
  return (
    inside ||
    isAttribute(attributeSteps(kind, [plain]), kind) ||
    attributesOf(kind).some(path => path === plain || path.startsWith(`${plain}.`))
  )
}

/** Whether an `Inspect` may look into the elements of a list: any argument may be an array of tuples. */
export const leadsToElements = (kind: Kind, names: readonly string[]): boolean => {
  const [name = '', ...inner] = attributeSteps(kind, names)
  const { fields } = MAPPING[kind]
  const field = Object.hasOwn(fields, name) ? fields[name]! : undefined
  return field !== undefined && isListField(field) && (field.list === 'nested') === inner.length > 0
}

export const leadsToArgument = (kind: Kind, names: readonly string[]): boolean =>
  nestedPaths(kind).includes(attributeSteps(kind, names)[0]!)

/** Positions in lists are not part of a name. */
const joinWithoutPlaces = (steps: readonly string[]) =>
  steps.filter((step, i) => i === 0 || !/^\d+$/.test(step)).join('.')
