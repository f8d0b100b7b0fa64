export * from './kinds/chain.ts'
export * from './kinds/hosts.ts'
export * from './kinds/plain.ts'
export * from './kinds/quantities.ts'
