import { isList, type Kind, MAPPING, nestedPaths } from '../../mapping/index.ts'
import { integerIn } from '../compare.ts'
import type { Shown, SourceFilter } from '../request.ts'
import { compileSourceFilter, globMatches } from './source-filter.ts'

type Source = Record<string, unknown>
interface NamedArgument {
  name: string
  pos: number
  value: { hex: string; type: string }
}

/**
 * What is shown of `_source` where members are asked for that it does not have by itself: `dec`, an integer's digits, and `argsByName`.
 * Undefined where no `_source` is wanted.
 */
export const compileDecorated = (
  kind: Kind,
  filter: SourceFilter,
  { decimals, argsByName }: Pick<Shown, 'decimals' | 'argsByName'>,
): ((source: Source) => Source | undefined) => {
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

/** The integers that get `dec`: those for which a pattern names it, or all where no pattern does. */
const decimalPaths = (kind: Kind, filter: SourceFilter): string[] => {
  const named = typeof filter === 'object' ? filter.includes.filter(pattern => pattern.endsWith('.dec')) : []
  const all = Object.entries(MAPPING[kind].fields).flatMap(([name, field]) =>
    isList(field) ? (field.list === 'nested' ? [`${name}.value`] : []) : INTEGER_KINDS.has(field.kind) ? [name] : [],
  )
  return named.length === 0 ? all : all.filter(path => named.some(pattern => globMatches(pattern, `${path}.dec`)))
}

const INTEGER_KINDS: ReadonlySet<string> = new Set(['quantity', 'wide', 'amount'])

/** Objects on the way are copied: what is shown elsewhere stays as it is. */
const addDecimals = (source: Source, [name = '', ...rest]: readonly string[]): void => {
  const value = source[name]
  if (Array.isArray(value)) {
    source[name] = value.map(element => {
      const copy = { ...(element as Source) }
      addDecimals(copy, rest)
      return copy
    })
  } else if (typeof value === 'object' && value !== null) {
    const copy = { ...(value as Source) }
    if (rest.length > 0) addDecimals(copy, rest)
    else copy.dec = integerIn(copy)?.toString() ?? null
    source[name] = copy
  }
}

/** Arguments by their names; those whose name is empty or occurs twice by their positions. Names come from outside: they may be any text. */
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
