import { ask } from './client.ts'

export const SCOPES = ['search', 'rules', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** `GET /account`: whose token this is, what it may do, and what the server has. */
export interface Account {
  account: string
  token: {
    id: number
    hint: string | null
    scopes: Scope[]
    createdAt: string | null
    expiresAt: string | null
  }
  limits: Record<string, number>
  server: {
    version: string
    features: string[]
    networks: { network: string; indexed: boolean; traces: 'all' | 'calls' | 'off' | null }[]
  }
}

export const getAccount = (signal?: AbortSignal) => ask<Account>('account', signal ? { signal } : {})
