import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Anvil {
  url: string
  /** The result as the node sent it; throws what the node refused with. */
  rpc(method: string, ...params: unknown[]): Promise<unknown>
  stop(): Promise<void>
}

/** An anvil on a free port that mines only when told to. */
export const startAnvil = async (options: string[]): Promise<Anvil> => {
  const child = spawn(binary(), ['--port', '0', '--no-mining', '--order', 'fifo', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const address = /Listening on (\S+)/.exec(output)?.[1]
      if (address !== undefined) resolve(`http://${address}`)
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`anvil ended with code ${code} before it listened:\n${output}`)))
  })
  return {
    url,
    async rpc(method, ...params) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
      if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
      return result
    },
    async stop() {
      if (child.exitCode === null && child.kill()) await once(child, 'exit')
    },
  }
}

/** The executable in the npm package of this platform; npm installs the one for Linux on x64 with the project. */
const binary = (): string => {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `@foundry-rs/anvil-${process.platform}-${arch}`
  try {
    return fileURLToPath(import.meta.resolve(`${name}/bin/anvil`))
  } catch (cause) {
    throw new Error(`recording the demo needs anvil: npm install --no-save ${name}@1.7.1`, { cause })
  }
}
