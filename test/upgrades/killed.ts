import Database from 'better-sqlite3'
import { takeDataFolder } from '../../src/app/upgrade.ts'
import { silent } from '../../src/lib/log.ts'

/** Upgrades a data folder, and is killed by one of its statements; by none for 0. Prints how many there were. */
const [data, killedBy] = [process.argv[2]!, Number(process.argv[3])]
let statements = 0
const { prototype } = Database as unknown as { prototype: Record<string, (...args: unknown[]) => unknown> }
for (const name of ['exec', 'pragma', 'prepare']) {
  const run = prototype[name]!
  prototype[name] = function (...args) {
    if (++statements === killedBy) process.kill(process.pid, 'SIGKILL')
    return run.apply(this, args)
  }
}
takeDataFolder(data, 'serve', silent).release()
console.log(statements)
