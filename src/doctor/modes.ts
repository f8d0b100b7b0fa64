import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/index.ts'
import { about, type Finding } from './finding.ts'

/** Whether others may read or change what is kept, and the config file, where keys stand. */
export function* checkModes({ data, file }: Pick<Config, 'data' | 'file'>): Generator<Finding> {
  if (process.platform === 'win32') return
  const { ok, warn, fail } = about('files', data)
  const all = [...filesIn(data)]
  const own = process.getuid?.()
  const foreign = all.filter(({ stats }) => own !== 0 && stats.uid !== own)
  const readable = all.filter(({ stats }) => stats.isFile() && (stats.mode & 0o077) !== 0)
  const writable = all.filter(({ stats }) => stats.isDirectory() && (stats.mode & 0o022) !== 0)
  if (foreign.length > 0)
    yield fail(
      `${listed(foreign)} ${foreign.length === 1 ? 'belongs' : 'belong'} to another user`,
      `Run chainsieve as that user, or give this one the folder: chown -R ${own} ${data}`,
    )
  if (readable.length > 0)
    yield warn(`other users may open ${listed(readable)}`, `Keep others out: chmod -R go= ${data}`)
  if (writable.length > 0)
    yield warn(`other users may create files in ${listed(writable)}`, `Keep others out: chmod -R go-w ${data}`)
  if (foreign.length + readable.length + writable.length === 0 && all.length > 0)
    yield ok('nobody else may open what is stored')
  if (file !== undefined) yield configFile(file)
}

const configFile = (file: string) => {
  const { ok, warn } = about('files', file)
  const mode = lstatSync(file).mode & 0o777
  return (mode & 0o077) === 0
    ? ok('nobody else may open the config file')
    : warn(
        `other users may open the config file (mode ${mode.toString(8)}), which may hold keys of nodes and passwords`,
        `Keep others out: chmod 600 ${file}`,
      )
}

interface Found {
  path: string
  stats: Stats
}

/** The folder and its content two levels deep, which is all of it. */
function* filesIn(folder: string, levels = 2): Generator<Found> {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (!stats) return
  yield { path: folder, stats }
  if (!stats.isDirectory() || levels === 0) return
  for (const name of readdirSync(folder)) yield* filesIn(join(folder, name), levels - 1)
}

const SHOWN = 3

const listed = (found: readonly Found[]): string => {
  const names = found.slice(0, SHOWN).map(({ path }) => path)
  return found.length > SHOWN ? `${names.join(', ')} and ${found.length - SHOWN} more` : names.join(', ')
}
