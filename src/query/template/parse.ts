import { refuse } from '../../lib/errors.ts'
import { cut } from '../cut.ts'

/** A piece of a mustache template. */
export type Piece =
  | { is: 'text'; text: string }
  | { is: 'variable'; name: string; escaped: boolean }
  | { is: 'section' | 'inverted'; name: string; of: Piece[] }

/** Reads a template; one that is none is refused. */
export const parseTemplate = (template: string): Piece[] => {
  let [open, close] = ['{{', '}}']
  const top: Piece[] = []
  const around: { name: string; pieces: Piece[] }[] = []
  let pieces = top
  let at = 0
  while (at < template.length) {
    const start = template.indexOf(open, at)
    const text = template.slice(at, start < 0 ? undefined : start)
    if (text !== '') pieces.push({ is: 'text', text })
    if (start < 0) break
    const sign = template[start + open.length] ?? ''
    const isTriple = sign === '{' && open === '{{'
    const ending = isTriple ? '}}}' : sign === '=' ? `=${close}` : close
    const from = start + open.length + (SIGNS.includes(sign) ? 1 : 0)
    const end = template.indexOf(ending, from)
    if (end < 0) throw faulty('Improperly closed variable', template)
    const name = template.slice(from, end).trim()
    at = end + ending.length
    if (sign === '!') continue
    if (sign === '=') {
      ;[open, close] = delimiters(name, template)
      continue
    }
    if (sign === '>') throw faulty(`Template ${cut(name)} not found: partials are not supported`, template)
    if (sign === '/') {
      const last = around.pop()
      if (last?.name !== name)
        throw faulty(`Mismatched start/end tags: ${cut(last?.name ?? 'none')} != ${cut(name)}`, template)
      pieces = last.pieces
    } else if (sign === '#' || sign === '^') {
      if (around.length === DEEPEST) throw faulty(`More than ${DEEPEST} sections lie in one another`, template)
      const of: Piece[] = []
      pieces.push({ is: sign === '#' ? 'section' : 'inverted', name, of })
      around.push({ name, pieces })
      pieces = of
    } else pieces.push({ is: 'variable', name, escaped: !isTriple && sign !== '&' })
  }
  const left = around.at(-1)
  if (left) throw faulty(`Failed to close '${cut(left.name)}' tag`, template)
  return top
}

const SIGNS = ['{', '&', '!', '=', '>', '/', '#', '^']
const DEEPEST = 50

const delimiters = (text: string, template: string): [string, string] => {
  const [open, close, ...others] = text.split(/\s+/)
  if (!open || !close || others.length > 0) throw faulty('Delimiters are two, with a space between', template)
  return [open, close]
}

export const faulty = (why: string, template: string) =>
  refuse('script_exception', `${why}, in the template ${cut(JSON.stringify(template))}.`)
