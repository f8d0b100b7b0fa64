import { refuse } from '../lib/errors.ts'

/** What works where documents lie in SQLite. `remedy`: what to do instead. */
export const notInCluster = (what: string, remedy: string) =>
  refuse(
    'illegal_argument_exception',
    `${what} does not work on a network whose documents lie in a cluster: ${remedy}.`,
  )
