import { memoize } from '../../lib/caches.ts'
import { compileGlobs } from '../../lib/name-matching.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { byKind, fieldsOf, isListField, KINDS, type Kind, MAPPING, nestedPaths } from '../../mapping/index.ts'
import { sourceInteger } from '../compare.ts'
import { elements, isJsonMap, type JsonNode, toText, where } from '../json-node.ts'
import { keyOr, readBodyKeys } from '../keys.ts'
import type { HitOptions, SourceFilter, SourcePatterns, SourceShape } from '../request.ts'

export type SourceObject = Record<string, unknown>

/** How much of a value a filter shows; `part`: the result of `cut`. */
export type ShownPart = 'whole' | 'part' | 'none'

interface SourcePaths {
  any: boolean
  /** `members`: paths of all leaf values below `path`; omitted for a leaf or a list of leaves. */
  of(path: string, members?: readonly string[]): ShownPart
  cut(value: unknown, path: string): unknown
}

/**
 * Filters `_source` as Elasticsearch does: a name selects its subtree, `*` is a wildcard, excludes
 * win, and lists are filtered by element. The result is undefined if no `_source` is wanted.
 */
export const compileSourceFilter = (filter: SourceFilter): ((source: SourceObject) => SourceObject | undefined) => {
  if (filter === true) return source => source
  if (filter === false) return () => undefined
  const flat = filter.flatArgs ? withFlatArguments : (source: SourceObject) => source
  const whole = filter.eth ? withEther : (source: SourceObject) => source
  if (filter.includes.length === 0 && filter.excludes.length === 0) return source => flat(whole(source))
  const { filterObject } = filtersOf(filter)
  return source => flat(filterObject(whole(source), ''))
}

/** The filter, with values in other forms. */
export const shapedFilter = (filter: SourceFilter, shape: SourceShape): SourceFilter =>
  filter === false || Object.keys(shape).length === 0
    ? filter
    : { includes: [], excludes: [], ...(filter !== true && filter), ...shape }

/** Whether a filter shows documents of a kind as they are. */
export const showsAll = (kind: Kind, filter: Exclude<SourceFilter, boolean>): boolean =>
  filter.includes.length === 0 &&
  filter.excludes.length === 0 &&
  !(filter.flatArgs && nestedPaths(kind).length > 0) &&
  !(filter.eth && AMOUNTS_BY_KIND[kind].length > 0)

/** Paths of amounts. */
const AMOUNTS_BY_KIND = byKind(KINDS, kind =>
  fieldsOf(kind).flatMap(({ path, field }) => (field.kind === 'amount' ? [path] : [])),
)

/** Amounts of documents of any kind. */
const AMOUNT_PATHS: ReadonlySet<string> = new Set(Object.values(AMOUNTS_BY_KIND).flat())

const withEther = (source: SourceObject): SourceObject => {
  const changed = { ...source }
  for (const path of AMOUNT_PATHS) {
    const [outer = '', inner] = path.split('.')
    const value = changed[outer]
    if (!isSourceObject(value)) continue
    if (inner === undefined) changed[outer] = etherAmount(value)
    else if (isSourceObject(value[inner])) changed[outer] = { ...value, [inner]: etherAmount(value[inner]) }
  }
  return changed
}

/** Whether a member of a document is or has an amount. */
export const hasAmounts = (name: string): boolean => AMOUNT_MEMBERS.has(name)
const AMOUNT_MEMBERS: ReadonlySet<string> = new Set(Array.from(AMOUNT_PATHS, path => path.split('.')[0]!))

const withEtherAt = (value: unknown, path: string): unknown =>
  AMOUNT_PATHS.has(path) && isSourceObject(value)
    ? etherAmount(value)
    : hasAmounts(path)
      ? withEther({ [path]: value })[path]
      : value

/** `eth` stands behind `coin`. */
const etherAmount = (amount: SourceObject): SourceObject =>
  Object.fromEntries(
    Object.entries(amount).flatMap(([name, value]) =>
      name === 'coin'
        ? [
            [name, value],
            ['eth', value],
          ]
        : [[name, value]],
    ),
  )

/** Lists of arguments in documents of any kind. */
const ARGUMENT_LISTS: ReadonlySet<string> = new Set(KINDS.flatMap(kind => nestedPaths(kind)))

const withFlatArguments = (source: SourceObject): SourceObject => {
  const flat = { ...source }
  for (const list of ARGUMENT_LISTS) if (Object.hasOwn(source, list)) flat[list] = flatArguments(source[list])
  return flat
}

/** `{"name": …, "value": {"hex": …}}` becomes `{"name": …, "value.hex": …}`. */
const flatArguments = (args: unknown): unknown =>
  Array.isArray(args)
    ? args.map((arg: SourceObject) =>
        Object.fromEntries(
          Object.entries(arg).flatMap(([name, value]) =>
            isSourceObject(value)
              ? Object.entries(value).map(([member, inner]) => [`${name}.${member}`, inner])
              : [[name, value]],
          ),
        ),
      )
    : args

/** `compileSourceFilter` for callers that build `_source` by field and skip hidden fields. */
export const compileSourcePaths = (filter: SourceFilter): SourcePaths => {
  if (typeof filter === 'boolean') return { any: filter, of: () => (filter ? 'whole' : 'none'), cut: value => value }
  const { isIncluded, isExcluded, isWhole, cut } = filtersOf(filter)
  const isFlat = (path: string) => filter.flatArgs === true && ARGUMENT_LISTS.has(path)
  const isShown = (path: string) => isIncluded(path) && !isExcluded(path)
  return {
    any: true,
    of(path, members = []) {
      if (isExcluded(path)) return 'none'
      if (isWhole(path) || (isIncluded(path) && members.every(isShown))) return isFlat(path) ? 'part' : 'whole'
      return isIncluded(path) || members.some(isShown) ? 'part' : 'none'
    },
    cut: (value, path) => {
      const left = cut(filter.eth ? withEtherAt(value, path) : value, path)
      return isFlat(path) ? flatArguments(left) : left
    },
  }
}

const filtersOf = ({ includes, excludes }: SourcePatterns) => {
  // The paths of a kind of document are few and the same in each, so each is decided once.
  const isNamed = (patterns: readonly string[]) => memoize(Number.POSITIVE_INFINITY, naming(patterns))
  const isIncluded = includes.length === 0 ? () => true : isNamed(includes)
  const isExcluded = isNamed(excludes)
  const isWhole = (path: string) => excludes.length === 0 && isIncluded(path)

  const filterObject = (source: SourceObject, prefix: string): SourceObject => {
    const kept: SourceObject = {}
    for (const [name, value] of Object.entries(source)) {
      const shown = cut(value, prefix + name)
      if (shown !== undefined) kept[name] = shown
    }
    return kept
  }

  const cut = (value: unknown, path: string): unknown =>
    isWhole(path) ? value : isExcluded(path) ? undefined : filterValue(value, path)

  const filterValue = (value: unknown, path: string): unknown => {
    const included = isIncluded(path)
    if (Array.isArray(value)) {
      // Drops list elements that the filter emptied.
      const kept = value.map(element => filterValue(element, path)).filter(element => !isEmptyRecord(element))
      return included || kept.length > 0 ? kept : undefined
    }
    if (isSourceObject(value)) {
      const kept = filterObject(value, `${path}.`)
      return included || Object.keys(kept).length > 0 ? kept : undefined
    }
    return included ? value : undefined
  }

  return { isIncluded, isExcluded, isWhole, filterObject, cut }
}

/** Raw JSON: integers with more digits than a double holds. */
export const isRawJson = (value: unknown): value is { rawJSON: string } =>
  (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value)

const isSourceObject = (value: unknown): value is SourceObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value)

const isEmptyRecord = (value: unknown) =>
  value === undefined || (isSourceObject(value) && Object.keys(value).length === 0)

/** Whether one of the patterns names the path or something above it. */
const naming = (patterns: readonly string[]): ((path: string) => boolean) => {
  const fitsAny = compileGlobs(patterns)
  return path => {
    for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1))
      if (fitsAny(path.slice(0, end))) return true
    return false
  }
}

/** `true`, `"pattern"`, `["pattern"]` or `{"includes": …, "excludes": …}`. */
export const parseSource = (place: JsonNode, limits: Limits): SourceFilter => {
  const { value } = place
  if (typeof value === 'boolean') return value
  if (!isJsonMap(value)) return checkedPatterns({ includes: elements(place), excludes: [] }, limits)
  const keys = readBodyKeys(place, 'an object such as {"includes": ["event", "args"]}', SOURCE_FILTER_KEYS, [])
  return checkedPatterns(
    { includes: [...keys.includes, ...keys.include], excludes: [...keys.excludes, ...keys.exclude] },
    limits,
  )
}

const patternNodes = keyOr([], elements)
const SOURCE_FILTER_KEYS = {
  includes: patternNodes,
  excludes: patternNodes,
  include: patternNodes,
  exclude: patternNodes,
}

const checkedPatterns = (
  { includes, excludes }: { includes: JsonNode[]; excludes: JsonNode[] },
  limits: Limits,
): SourceFilter => {
  if (includes.length + excludes.length > limits.sourcePatterns) throw overLimit('sourcePatterns', limits)
  const read = (at: JsonNode) => {
    const pattern = toText(at, 'the name of a field, or a list of names')
    if (pattern.length > limits.text) throw overLimit('text', limits, where(at))
    return pattern
  }
  return { includes: includes.map(read), excludes: excludes.map(read) }
}

interface NamedArgument {
  name: string
  pos: number
  value: { hex: string; type: string }
}

/**
 * Filters `_source` with its derived members `dec` (an integer's digits) and `argsByName`.
 * The result is undefined if no `_source` is wanted.
 */
export const compileDecorated = (
  kind: Kind,
  filter: SourceFilter,
  { decimals, argsByName }: Pick<HitOptions, 'decimals' | 'argsByName'>,
): ((source: SourceObject) => SourceObject | undefined) => {
  const show = compileSourceFilter(filter)
  const paths = decimals ? decimalPaths(kind, filter) : []
  const lists = nestedPaths(kind)
  return source => {
    const decorated = { ...source }
    for (const path of paths) addDecimals(decorated, path.split('.'))
    if (argsByName)
      for (const list of lists)
        if (Array.isArray(decorated[list]))
          decorated[`${list}ByName`] = argumentsByName(decorated[list] as NamedArgument[])
    return show(decorated)
  }
}

/** Integers that get `dec`: those named by a pattern, or all if none is named. */
const decimalPaths = (kind: Kind, filter: SourceFilter): string[] => {
  const named = typeof filter === 'object' ? filter.includes.filter(pattern => pattern.endsWith('.dec')) : []
  const all = Object.entries(MAPPING[kind].fields).flatMap(([name, field]) =>
    isListField(field)
      ? field.list === 'nested'
        ? [`${name}.value`]
        : []
      : INTEGER_KINDS.has(field.kind)
        ? [name]
        : [],
  )
  const isNamed = compileGlobs(named)
  return named.length === 0 ? all : all.filter(path => isNamed(`${path}.dec`))
}

const INTEGER_KINDS: ReadonlySet<string> = new Set(['quantity', 'wide', 'amount'])
/** Objects on the way are copied: what is shown elsewhere stays as it is. */
const addDecimals = (source: SourceObject, [name = '', ...rest]: readonly string[]): void => {
  const value = source[name]
  if (Array.isArray(value)) {
    source[name] = value.map(element => {
      const copy = { ...(element as SourceObject) }
      addDecimals(copy, rest)
      return copy
    })
  } else if (typeof value === 'object' && value !== null) {
    const copy = { ...(value as SourceObject) }
    if (rest.length > 0) addDecimals(copy, rest)
    else copy.dec = sourceInteger(copy)?.toString() ?? null
    source[name] = copy
  }
}

/** Arguments by name; by position if the name is empty or repeated. Names may be any text. */
const argumentsByName = (args: readonly NamedArgument[]): Record<string, NamedArgument> => {
  const counts = new Map<string, number>()
  for (const { name } of args) counts.set(name, (counts.get(name) ?? 0) + 1)
  const isOwn = ({ name }: NamedArgument) => name !== '' && counts.get(name) === 1
  const named: Record<string, NamedArgument> = Object.create(null)
  for (const arg of args) if (isOwn(arg)) named[arg.name] = arg
  // A name may look like a position: then it keeps its place.
  for (const arg of args) if (!isOwn(arg)) named[Object.hasOwn(named, String(arg.pos)) ? `#${arg.pos}` : arg.pos] = arg
  return named
}
