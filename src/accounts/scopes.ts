import { refuse } from '../lib/errors.ts'

/** What a token may be used for. */
export const SCOPES = ['search', 'rules', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** The scopes of a token unless others are given: all that an account needs for itself. */
export const USUAL_SCOPES: readonly Scope[] = ['search', 'rules']

/** As they are stored: each once, in the order of the list. */
export const writeScopes = (scopes: readonly Scope[]): string => {
  if (scopes.length === 0) throw refuse('no_scope', `A token needs a scope: ${SCOPES.join(', ')}.`)
  return SCOPES.filter(scope => scopes.includes(scope)).join(',')
}

export const readScopes = (text: string): Scope[] => SCOPES.filter(scope => text.split(',').includes(scope))
