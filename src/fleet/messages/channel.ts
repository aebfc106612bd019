/** The side of a process of the fleet: its channel to the supervisor. Only bin/ has the real one. */
export type SupervisorChannel = {
  readonly send: (message: unknown) => void;
  /** Messages that arrived before are delivered too. One listener. */
  readonly receive: (listener: (message: unknown) => void) => void;
};
