"""What is to be shown, described without saying how: the viewer, pictures, plots and pages all start from it."""
