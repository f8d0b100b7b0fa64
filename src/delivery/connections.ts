import { Agent, type buildConnector, type Dispatcher } from 'undici'

export interface ConnectionsOptions {
  /** How an account connects. */
  connectorOf(account: number): buildConnector.connector
  /** Longest head of an answer, in bytes. */
  maxHead: number
}

interface AccountConnections {
  agent: Agent
  /** Connections that are open. */
  open: number
  /** Attempts under way. */
  busy: number
}

/** Open connections of an account that nothing goes over. */
const MAX_IDLE = 64
const RECEIVER_KEEP_ALIVE_MS = 10_000

export type Connections = ReturnType<typeof createConnections>

/**
 * Connections to receivers, each account's apart: whoever's receivers hang holds nobody else's connections. How many are busy is for the
 * scheduler to say; of those that are kept open for later each account has a few.
 */
export const createConnections = ({ connectorOf, maxHead }: ConnectionsOptions) => {
  const accounts = new Map<number, AccountConnections>()

  const open = (id: number): AccountConnections => {
    const connect = connectorOf(id)
    const account: AccountConnections = { open: 0, busy: 0, agent: undefined as never }
    const counted: buildConnector.connector = (options, callback) =>
      connect(options, (...result) => {
        const socket = result[1]
        if (socket) {
          account.open++
          socket.once('close', () => account.open--)
        }
        callback(...result)
      })
    account.agent = new Agent({
      connect: counted,
      pipelining: 1,
      allowH2: false,
      keepAliveMaxTimeout: RECEIVER_KEEP_ALIVE_MS,
      maxHeaderSize: maxHead,
      // One clock for the whole attempt, of whoever uses it.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    accounts.set(id, account)
    return account
  }

  return {
    /** `reset`: the connection is closed after the answer. */
    async use<T>(id: number, work: (dispatcher: Dispatcher, reset: boolean) => Promise<T>): Promise<T> {
      const account = accounts.get(id) ?? open(id)
      account.busy++
      try {
        return await work(account.agent, account.open - account.busy >= MAX_IDLE)
      } finally {
        account.busy--
      }
    },

    async close() {
      await Promise.all([...accounts.values()].map(({ agent }) => agent.destroy()))
      accounts.clear()
    },
  }
}
