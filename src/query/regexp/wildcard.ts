import { ANY, chain, EVERYTHING, type Expression, literal } from './expression.ts'

/** `*` stands for any characters, `?` for one, and a backslash takes the meaning from what follows. */
export const parseWildcard = (text: string, ignoreCase: boolean): Expression => {
  const parts: Expression[] = []
  const characters = Array.from(text)
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!
    if (character === '*') parts.push(EVERYTHING)
    else if (character === '?') parts.push(ANY)
    else if (character === '\\' && i + 1 < characters.length) parts.push(literal(characters[++i]!, ignoreCase))
    else parts.push(literal(character, ignoreCase))
  }
  return chain(parts)
}
