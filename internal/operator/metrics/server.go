package metrics

var (
	serverUp     = desc("server_up", "1 while the GARM server can be worked with, else 0.", "server")
	serverInfo   = desc("server_info", "What the GARM server last said of itself; always 1.", "server", "version", "controller_id")
	serverEvents = desc("server_events_connected", "1 while the GARM server's event stream is open; while it is 0 the operator polls.", "server")
)

func (s *State) server(out sink) {
	state := s.source.Session.State()
	name := state.Identity.Server
	out.set(serverUp, number(state.Ready()), name)
	out.set(serverEvents, number(state.Events), name)
	if id := state.Identity.ControllerID; id != "" {
		out.set(serverInfo, 1, name, state.Controller.Version, id)
	}
}
