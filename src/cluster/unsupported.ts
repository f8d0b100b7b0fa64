import { type ChainsieveError, refuse } from '../lib/errors.ts'

/** What works where documents lie in SQLite. `remedy`: what to do instead. */
export const notInCluster = (what: string, remedy: string) =>
  refuse(
    'illegal_argument_exception',
    `${what} does not work on a network whose documents lie in a cluster: ${remedy}.`,
  )

/** A part of a search, named as it is in the request, that a cluster cannot do as a store does. `remedy`: what the caller can do instead. */
export const unsupported = (part: string, remedy: string): ChainsieveError => notInCluster(`[${part}]`, remedy)
