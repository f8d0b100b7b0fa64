/** What the scripts of the JavaScript tools share. They run on the packages of `CLIENT_FOLDER`. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const { BASE, TOKEN, ADMIN_TOKEN, ROOT, ELASTICSEARCH, CLIENT_FOLDER, WORK } = process.env
export const require = createRequire(`${CLIENT_FOLDER}/`)
/** Basic authentication within a URL, as tools of the command line take it. */
export const withToken = (url, token = TOKEN) => url.replace('//', `//any:${token}@`)

/** Runs a command that the package brings, and returns what it prints. */
export const runBinary = async (name, args) => {
  const command = join(CLIENT_FOLDER, 'node_modules', '.bin', name)
  const { stdout } = await promisify(execFile)(command, args, { cwd: WORK, maxBuffer: 1 << 26 })
  return stdout
}

export const linesIn = file =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')

/** Makes the calls in their order, and prints a line of JSON for each. */
export const report = async calls => {
  for (const [call, run] of Object.entries(calls)) {
    let line
    try {
      line = { call, value: await run() }
    } catch (error) {
      line = { call, error: String(error?.message ?? error).slice(0, 400) }
    }
    process.stdout.write(`${JSON.stringify(line)}\n`)
  }
  process.exit(0)
}
