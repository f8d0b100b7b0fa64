import { promises, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemFault } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { PRIVATE_FILE } from '../../lib/private.ts'
import { every } from '../../lib/scheduling/interval.ts'
import { createReadinessLog } from './readiness.ts'
import type { Status } from './status.ts'

const FILE = 'status.json'
const PUBLISH_MS = 1000
/** A file that is older was left behind by a server that is gone. */
const FRESH_MS = 5000

/**
 * Writes a running server's status beside its data again and again, for `chainsieve status`, and logs what has it not be ready; the returned
 * function ends that.
 */
export const publishStatus = (data: string, status: () => Promise<Status>, log: Log) => {
  const path = join(data, FILE)
  const tellReasons = createReadinessLog(log)
  const publish = async () => {
    const now = await status()
    tellReasons(now.reasons ?? [])
    const text = JSON.stringify(now)
    try {
      await promises.writeFile(`${path}.new`, text, { mode: PRIVATE_FILE })
      await promises.rename(`${path}.new`, path)
    } catch (error) {
      if (systemFault(error)?.code !== 'disk_full') throw error
      // In the room of the last one.
      await promises.writeFile(path, text, { flag: 'r+' })
      await promises.truncate(path, Buffer.byteLength(text))
    }
  }
  const end = every(PUBLISH_MS, publish, { log, doing: 'write the status for "chainsieve status"', atOnce: true })
  return async () => {
    end()
    await promises.rm(path, { force: true })
  }
}

/** The last status that a running server published; undefined if none runs on this data folder. */
export const readStatus = (data: string): Status | undefined => {
  try {
    return Date.now() - statSync(join(data, FILE)).mtimeMs > FRESH_MS ? undefined : lastPublished(data)
  } catch {
    return undefined
  }
}

/** What the last server published before it was killed, or what one that runs does; undefined where it ended in good order. */
export const lastPublished = (data: string): Status | undefined => {
  try {
    return JSON.parse(readFileSync(join(data, FILE), 'utf8')) as Status
  } catch {
    return undefined
  }
}
