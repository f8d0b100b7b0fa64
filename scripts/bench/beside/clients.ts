import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { VARYING, type Varying } from '../anew.ts'
import { connect } from '../connection.ts'

/** Many clients in a process of their own: each sends its next request once it has an answer. */
export type Clients = ReturnType<typeof startClients>

export interface Job {
  url: string
  /** Taken in turn, by whichever client is free. */
  requests: string[]
  varying: Varying
  clients: number
  seconds: number
}

export interface Work {
  times: number[]
  seconds: number
}

export const startClients = () => {
  const child = fork(fileURLToPath(import.meta.url))
  return {
    run(job: Job) {
      const { promise, resolve, reject } = Promise.withResolvers<Work>()
      const ended = (code: number | null) => reject(new Error(`the clients ended with ${code}`))
      child.once('exit', ended)
      child.once('message', (message: Work | { error: string }) => {
        child.off('exit', ended)
        if ('error' in message) reject(new Error(message.error))
        else resolve(message)
      })
      child.send(job)
      return promise
    },
    close: () => child.disconnect(),
  }
}

const runJob = async ({ url, requests, varying, clients, seconds }: Job): Promise<Work> => {
  const all = requests.map(text => Buffer.from(text))
  const times: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  let next = 0
  const client = async () => {
    const connection = connect(url)
    try {
      for (let before = performance.now(); before < end; ) {
        const request = VARYING[varying](all[next++ % all.length]!)
        const { status, body } = await connection.ask(request)
        if (status !== 200) throw new Error(`${request} was answered ${status}: ${body.toString('utf8', 0, 500)}`)
        const after = performance.now()
        times.push(after - before)
        before = after
      }
    } finally {
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { times, seconds: (performance.now() - start) / 1000 }
}

if (import.meta.main)
  process.on('message', async (job: Job) => {
    try {
      process.send!(await runJob(job))
    } catch (error) {
      process.send!({ error: (error as Error).message })
    }
  })
