package fleet

import (
	"strconv"
	"strings"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Labels that say whose a runner is. Servers of other versions write = in place of the colon.
const (
	controllerLabel = "runner-controller-id"
	poolLabel       = "runner-pool-id"
	jobLabel        = "in_response_to_job"
)

// RunnerLabels are the labels that an instance registers with: the tags of its pool and those that say whose it is.
func RunnerLabels(controller model.ControllerID, pool model.Pool, row model.Instance) []string {
	labels := append(pool.TagNames(), controllerLabel+":"+string(controller), poolLabel+":"+string(pool.ID))
	if row.ForJob != 0 {
		labels = append(labels, jobLabel+":"+strconv.FormatInt(row.ForJob, 10))
	}
	return labels
}

// isOurs says whether a runner at the forge was registered by this controller.
func isOurs(controller model.ControllerID, runner Runner) bool {
	for _, label := range runner.Labels {
		for _, separator := range []string{":", "="} {
			if strings.EqualFold(label, controllerLabel+separator+string(controller)) {
				return controller != ""
			}
		}
	}
	return false
}
