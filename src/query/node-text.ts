import type { FieldPath } from '../mapping/index.ts'
import type { Bounds, Node, Value } from './ast.ts'
import type { Pattern } from './pattern.ts'

/** What a query asks for, in the words of Lucene, as explanations name it. Long ones are cut. */
export const textOfNode = (node: Node): string => {
  const text = write(node)
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`
}

/** Characters. */
const LONGEST = 500
/** Values of a list that are written out. */
const VALUES = 20

const write = (node: Node): string => {
  switch (node.op) {
    case 'all':
      return '*:*'
    case 'none':
      return 'MatchNoDocsQuery("")'
    case 'and':
      return node.of.map(one => (one.op === 'not' ? `-${inner(one.of)}` : `+${inner(one)}`)).join(' ')
    case 'or':
      return node.of.map(inner).join(' ')
    case 'atLeast':
      return `(${node.of.map(inner).join(' ')})~${node.count}`
    case 'not':
      return `-${inner(node.of)} +*:*`
    case 'in':
      return values(node.field, node.values)
    case 'range':
      return `${node.field.path}:${boundsText(node.field, node.bounds)}`
    case 'fuzzy':
      return `${node.field.path}:${node.near.text}~${node.near.edits}`
    case 'pattern':
      return `${node.field.path}:${patternText(node.pattern)}`
    case 'phrase':
      return phraseText(node)
    case 'exists':
      return `${node.field.es === 'text' ? 'NormsFieldExistsQuery' : 'DocValuesFieldExistsQuery'} [field=${node.field.path}]`
    case 'ids':
      return listed(node.values, id => `_id:${id}`)
    case 'nested':
      return `ToParentBlockJoinQuery (${write(node.of)})`
    case 'child':
      return `has_child ${node.kind} (${write(node.of)})`
    case 'parent':
      return `has_parent ${node.kind} (${write(node.of)})`
    case 'compare':
      return node.steps.join('.')
  }
}

const inner = (node: Node): string => {
  const isOne = node.op !== 'and' && node.op !== 'or' && !(node.op === 'in' && node.values.length > 1)
  return isOne ? write(node) : `(${write(node)})`
}

const values = (field: FieldPath, all: readonly Value[]): string => listed(all, value => termText(field, value))

const listed = <T>(all: readonly T[], text: (one: T) => string): string =>
  [...all.slice(0, VALUES).map(text), ...(all.length > VALUES ? ['…'] : [])].join(' ')

/** A value of a field: texts as they are, numbers as the range that holds this one alone. */
export const termText = ({ path }: FieldPath, value: Value): string => {
  if (typeof value === 'boolean') return `${path}:${value ? 'T' : 'F'}`
  return typeof value === 'string' ? `${path}:${value}` : `${path}:[${value} TO ${value}]`
}

export const phraseText = ({
  field,
  words,
  slop,
  prefix,
}: {
  field: FieldPath
  words: readonly string[]
  slop: number
  prefix: boolean
}): string => `${field.path}:"${words.join(' ')}${prefix ? '*' : ''}"${slop > 0 ? `~${slop}` : ''}`

const LONG: readonly Value[] = [-(2n ** 63n), 2n ** 63n - 1n]

const boundsText = ({ compare }: FieldPath, { gt, gte, lt, lte }: Bounds): string => {
  const [least, most] = compare === 'long' || compare === 'instant' ? LONG : ['*', '*']
  return `${gt === undefined ? '[' : '{'}${gt ?? gte ?? least} TO ${lt ?? lte ?? most}${lt === undefined ? ']' : '}'}`
}

const patternText = ({ how, text }: Pattern): string =>
  how === 'prefix' ? `${text}*` : how === 'regexp' ? `/${text}/` : text
