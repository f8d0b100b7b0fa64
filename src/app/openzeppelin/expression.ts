import type { NamedCondition, RuleCondition, RuleOperator } from '../../rules/rule.ts'

/** Conditions that mean what an expression of OpenZeppelin Monitor means, or why there are none. */
export type ReadExpression = { conditions: RuleCondition[] } | { lacking: string }

/** The name of an attribute for one of the expression; undefined if there is none. */
type NameOf = (name: string) => string | undefined

const EXPRESSION_SIGNS: Record<string, RuleOperator> = {
  ...{ '>': 'Greater', '>=': 'Greater or Equal', '<': 'Less', '<=': 'Less or Equal' },
  ...{ '==': 'Equals', '!=': 'Equals' },
}
const EXPRESSION_TOKEN = /\s*(?:("[^"]*"|'[^']*')|(==|!=|>=|<=|[<>()])|([^\s()<>=!"']+))/y

/** `a > 5 AND (b == "x" OR c != 0x1)` */
export const readExpression = (text: string, nameOf: NameOf): ReadExpression => {
  try {
    const tokens = expressionTokens(text)
    const conditions = readAlternatives(tokens, nameOf)
    if (tokens.length > 0) throw new LackingCounterpart(`${JSON.stringify(tokens[0])} is not understood`)
    return { conditions }
  } catch (error) {
    if (error instanceof LackingCounterpart) return { lacking: error.message }
    throw error
  }
}

class LackingCounterpart extends Error {}

const expressionTokens = (text: string): string[] => {
  const tokens: string[] = []
  EXPRESSION_TOKEN.lastIndex = 0
  for (const trimmed = text.trimEnd(); EXPRESSION_TOKEN.lastIndex < trimmed.length; ) {
    const at = EXPRESSION_TOKEN.lastIndex
    const found = EXPRESSION_TOKEN.exec(trimmed)
    if (!found) throw new LackingCounterpart(`${JSON.stringify(trimmed.slice(at, at + 20))} is not understood`)
    tokens.push(found[1] ?? found[2] ?? found[3]!)
  }
  return tokens
}

const isWord = (token: string | undefined, word: string) => token?.toUpperCase() === word

const readAlternatives = (tokens: string[], nameOf: NameOf): RuleCondition[] => {
  const alternatives = [readConjunction(tokens, nameOf)]
  while (isWord(tokens[0], 'OR')) {
    tokens.shift()
    alternatives.push(readConjunction(tokens, nameOf))
  }
  const [only, ...others] = alternatives
  return others.length === 0 ? only! : [{ operator: 'Or', operatorParameters: alternatives.map(asOne) }]
}

const readConjunction = (tokens: string[], nameOf: NameOf): RuleCondition[] => {
  const all = readOne(tokens, nameOf)
  while (isWord(tokens[0], 'AND')) {
    tokens.shift()
    all.push(...readOne(tokens, nameOf))
  }
  return all
}

/** All hold if none of their opposites does. */
const asOne = (conditions: RuleCondition[]): RuleCondition =>
  conditions.length === 1
    ? conditions[0]!
    : { operator: 'Not', operatorParameters: conditions.map(it => ({ operator: 'Not', operatorParameters: [it] })) }

const readOne = (tokens: string[], nameOf: NameOf): RuleCondition[] => {
  const token = tokens.shift()
  if (token === undefined) throw new LackingCounterpart('it ends too early')
  if (token === '(') {
    const inner = readAlternatives(tokens, nameOf)
    if (tokens.shift() !== ')') throw new LackingCounterpart('a parenthesis is not closed')
    return inner
  }
  const name = /^[A-Za-z_]\w*$/.test(token) ? nameOf(token) : undefined
  if (name === undefined) throw new LackingCounterpart(`${token} has no counterpart`)
  const sign = tokens.shift() ?? ''
  const operator = EXPRESSION_SIGNS[sign]
  if (operator === undefined) throw new LackingCounterpart(`${JSON.stringify(sign)} has no counterpart`)
  const value = tokens.shift()
  if (value === undefined || value === '(' || value === ')')
    throw new LackingCounterpart(`${token} ${sign} has no value`)
  const condition = comparison(name, operator, value)
  return [sign === '!=' ? { operator: 'Not', operatorParameters: [condition] } : condition]
}

const comparison = (name: string, operator: RuleOperator, literal: string): NamedCondition => {
  const isQuoted = /^["']/.test(literal)
  const value = isQuoted ? literal.slice(1, -1) : literal
  const isHex = /^0x[\da-f]+$/i.test(value)
  if (operator === 'Equals') return { name, operator: isQuoted || isHex ? 'Equals (ignore case)' : operator, value }
  return { name, operator, value: isHex ? String(BigInt(value)) : value }
}
